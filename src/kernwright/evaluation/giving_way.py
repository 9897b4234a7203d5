"""Who shares a device gives way to whoever waits to time on it: who times waits for all that share it."""

from collections.abc import Callable
from time import monotonic

from kernwright.core.lease import Share
from kernwright.core.ports import DeviceSession

from .participants.participant import Participant

LEAST_S = 0.02
"""So long checks have the device before they give way: shorter, and they would be waiting most of the time."""


def give_way(participant: Participant, share: Share) -> float:
    """Stop a participant while others who want that have the device alone; seconds that they had it."""
    if not share.wanted():
        return 0.0
    began = monotonic()
    participant.freeze()
    share.lend()
    participant.runner.thaw()
    return monotonic() - began


class Courtesy:
    """To be called between two calls of a check: gives way where the check had the device for a while."""

    def __init__(
        self, participant: Participant, share: Share, session: DeviceSession, waited: Callable[[float], None]
    ) -> None:
        """`waited` is told the seconds that others had."""
        self._participant, self._share, self._session, self._waited = participant, share, session, waited
        self._since = monotonic()

    def __call__(self) -> None:
        if monotonic() - self._since < LEAST_S or not self._share.wanted():
            return
        self._session.settle()  # what the judge itself has queued would run beside others' timing
        self._waited(give_way(self._participant, self._share))
        self._since = monotonic()
