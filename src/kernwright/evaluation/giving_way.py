"""Who shares a device gives way to whoever waits to time on it: who times waits for all that share it."""

from collections.abc import Callable
from time import monotonic

from kernwright.core.lease import Share
from kernwright.core.ports import DeviceSession

from .participants.participant import Participant

LEAST_S, LEAST_SHARE = 0.02, 1 / 16
"""So long they have the device before they give way: shorter, and they would be waiting most of the time. And such a
share of the time for which others had it before: of a queue of those who time for long checks would see no end."""
IN_VAIN_S = 1.0
"""The same after others did not give way."""


class Courtesy:
    """Of one participant that shares a device: it gives way where it had the device for a while."""

    def __init__(
        self,
        participant: Participant,
        share: Share,
        session: DeviceSession,
        waited: Callable[[float], object] = lambda _: None,
    ) -> None:
        """`waited` is told the seconds that others had between two calls."""
        self._participant, self._share, self._session, self._waited = participant, share, session, waited
        self._since, self._least_s = monotonic(), LEAST_S

    def __call__(self) -> None:
        """Between two calls; the participant stands still from then on until its next message.

        Raises:
            Ended: it does not stand still.
        """
        if self._is_due():
            self._session.settle()  # what the judge itself has queued would run beside others' timing
            self._waited(self._lent_s())

    def meanwhile(self) -> float:
        """While it is at work in a call that may take minutes; seconds for which it stood still."""
        if not self._is_due():
            return 0.0
        seconds = self._lent_s()
        self._participant.runner.thaw()
        return seconds

    def _is_due(self) -> bool:
        return monotonic() - self._since >= self._least_s and self._share.wanted()

    def _lent_s(self) -> float:
        self._participant.freeze()
        began = monotonic()
        had = self._share.lend()
        self._since = monotonic()
        seconds = self._since - began
        self._least_s = max(LEAST_S, LEAST_SHARE * seconds) if had else IN_VAIN_S
        return seconds
