"""Who shares a device gives way to whoever waits to time on it: who times waits for all that share it."""

from collections.abc import Callable
from functools import partial
from time import monotonic

from kernwright.core.lease import Share
from kernwright.core.ports import DeviceSession

from .participants.participant import Participant

LEAST_S, LEAST_SHARE = 0.02, 1 / 16
"""So long checks have the device before they give way: shorter, and they would be waiting most of the time. And such a
share of the time for which others had it before: of a queue of those who time for long checks would see no end."""
IN_VAIN_S = 1.0
"""The same after others did not give way."""


def give_way(participant: Participant, share: Share) -> float:
    """Stop a participant that is at work while others who want that have the device alone; seconds that it took."""
    if not share.wanted():
        return 0.0
    began = monotonic()
    participant.freeze()
    share.lend()
    participant.runner.thaw()
    return monotonic() - began


class Courtesy:
    """To be called between two calls of a check: gives way where the check had the device for a while.

    `meanwhile` is for a call that may take long.
    """

    def __init__(
        self, participant: Participant, share: Share, session: DeviceSession, waited: Callable[[float], None]
    ) -> None:
        """`waited` is told the seconds that others had."""
        self._participant, self._share, self._session, self._waited = participant, share, session, waited
        self.meanwhile = partial(give_way, participant, share)
        self._since, self._least_s = monotonic(), LEAST_S

    def __call__(self) -> None:
        """The participant stands still from then on until its next message.

        Raises:
            Ended: it does not stand still.
        """
        if monotonic() - self._since < self._least_s or not self._share.wanted():
            return
        self._session.settle()  # what the judge itself has queued would run beside others' timing
        self._participant.freeze()
        began, had = monotonic(), False
        try:
            had = self._share.lend()
        finally:
            self._since = monotonic()
            self._waited(self._since - began)
            self._least_s = max(LEAST_S, LEAST_SHARE * (self._since - began)) if had else IN_VAIN_S
