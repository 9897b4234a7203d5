"""What a judge may hold of a device's memory, and for how long."""

import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TypeVar

import torch

from kernwright.core.errors import MachineFault, UserError
from kernwright.core.outcome import Outcome
from kernwright.core.ports import DeviceSession

from .ended import Ended
from .footprint import Needed

PATIENT_S = 10.0
"""So long another process waits for room before an evaluation that is over makes it: to set up baselines anew takes
seconds, and where more judges work than have room they would do little else."""
Found = TypeVar("Found")
Leased = Callable[[AbstractContextManager[object]], AbstractContextManager[object]]


class Room:
    """A judge's reservation of device memory.

    The rule: whatever a judge or one of its runners holds on the device, its own context aside, is covered by its
    reservation. Warm baselines, and freed memory that PyTorch keeps for the next tensors, make the next evaluation
    quick; so reservation and all that it covers stay between evaluations that need as much. They go, that first and
    then the reservation, when another process waits for room and no evaluation follows within a moment, or the other
    has waited for long and none is known to follow; when the device was crowded; or when an evaluation failed in
    another way than through its candidate.
    """

    def __init__(self, session: DeviceSession, empty: Callable[[], None]) -> None:
        """`empty` ends the runners that live in it from one evaluation to the next."""
        self._session = session
        self._empty = empty
        self._reservation = ExitStack()
        self._needed: Needed | None = None
        self.crowded = False
        """To be set by an evaluation that found little room: nothing of it may stay."""

    @property
    def has_all(self) -> bool:
        """Whether no other evaluation may hold some of the memory, or nothing is known of how much there is."""
        most = self._session.memory_bytes
        return most is None or (self._needed is not None and self._needed.held >= most)

    @contextmanager
    def entered(self, needed: Needed, *, followed: bool = False) -> Iterator[None]:
        """Wait for so much where it is not held already. What runs inside must not leave tensors to its caller.

        With `followed` it is kept for the evaluation that comes next; one that does not come within a moment loses it
        to whoever waits (`rest`).
        """
        if self._needed != needed:
            self.leave()
            self._reservation.enter_context(self._session.reserved(needed.held, needed.timing))
            self._needed = needed
        self.crowded = False
        done = False
        try:
            yield
            done = True
        except BaseException as error:
            _forget_variables(error)
            done = isinstance(error, Ended)
            raise
        finally:
            if not done or self.crowded or (not followed and self._session.wanted(PATIENT_S)):
                self.leave()

    def made(self, needed: Needed, leased: Leased, work: Callable[[], Found], *, followed: bool = False) -> Found:
        """What `work` gives with so much reserved, or, where memory ran out, with all that there is.

        Sizes tell only about what is needed, and nothing bounds what others take: nobody is blamed for want of memory
        who did not have the device for itself. `leased` wraps each reservation.
        """
        try:
            with leased(self.entered(needed, followed=followed)):
                return work()
        except (Ended, MachineFault, UserError, torch.OutOfMemoryError) as error:
            most = self._session.memory_bytes
            if most is None or needed.held >= most or not _ran_out(error):
                raise
        with leased(self.entered(Needed(held=most))):
            return work()

    def rest(self) -> None:
        """Between evaluations: give up what others wait for."""
        if self._needed is not None and self._session.wanted():
            self.leave()

    def leave(self) -> None:
        """Give everything back."""
        try:
            self._empty()
            self._session.free()
        finally:
            self._needed = None
            self._reservation.close()


def _ran_out(error: BaseException) -> bool:
    if isinstance(error, torch.OutOfMemoryError):
        return True
    return "out of memory" in (said_by(error.outcome) if isinstance(error, Ended) else str(error))


def said_by(outcome: Outcome) -> str:
    """Why it ended, and what it printed: a runner that finds no room for its own start dies before it can reply."""
    return f"{getattr(outcome, 'reason', outcome.kind)}\n{getattr(outcome, 'log', '')}"


def _forget_variables(error: BaseException) -> None:
    """Those of the functions that it went through hold tensors for as long as anybody holds the error.

    Where it came from another, that loses its trace altogether: clearing leaves what a function has closed over.
    """
    traceback.clear_frames(error.__traceback__)
    cause = error.__cause__ or error.__context__
    while cause is not None:
        traceback.clear_frames(cause.__traceback__)
        cause.__traceback__ = None
        cause = cause.__cause__ or cause.__context__
