"""Gates on an asynchronous device: a call's work waits behind one until the judge lets it go."""

import ctypes
import mmap
import os
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from time import perf_counter_ns
from typing import ParamSpec, TypeVar

from kernwright.core.gate import OPEN_AT, QUEUED_AT
from kernwright.core.outcome import Crashed
from kernwright.core.shared_memory import sealed_memory
from kernwright.evaluation.ended import Ended

_TURNS = 1 << 30
LIMIT_NS = 2_000_000_000
"""A gate that nobody opens opens by itself after so long."""
TOO_BUSY = (
    f"the machine was too busy: a call waited for longer than {LIMIT_NS / 1e9:g} s until it was let go, and began by "
    "itself; judge it again when it is quieter"
)
TRIES = 4
"""So many calls in a row have to begin by themselves."""
_Given = ParamSpec("_Given")
_Told = TypeVar("_Told")


class TooBusy(Ended):
    """A call began before it was let go. It may have worked on what was not right yet, and results may be cleared."""

    def __init__(self) -> None:
        super().__init__(Crashed(stage="call", log="", reason=TOO_BUSY))


def patient(attempt: Callable[_Given, _Told]) -> Callable[_Given, _Told]:
    """The same, made again where its call began before it was let go.

    A machine that stands still for seconds, as one that others share does, is no candidate's fault.

    Raises `TooBusy` where that befalls one after the other.
    """

    @wraps(attempt)
    def tried(*given: _Given.args, **named: _Given.kwargs) -> _Told:
        for _ in range(TRIES - 1):
            with suppress(TooBusy):
                return attempt(*given, **named)
        return attempt(*given, **named)

    return tried


class Gate:
    """The judge's half of the page that it shares with one runner.

    A runner puts a kernel before its call that waits for the judge's word, and says once all is queued. So the device
    does nothing of the call before the judge says so, and nothing of the host's work lies between its kernels.
    """

    def __init__(self) -> None:
        self.fd = sealed_memory("gate", mmap.PAGESIZE)
        page = mmap.mmap(self.fd, mmap.PAGESIZE)
        self._open = ctypes.c_uint32.from_buffer(page, OPEN_AT)
        self._queued = ctypes.c_uint32.from_buffer(page, QUEUED_AT)
        self.turn, self._shut_at = 0, 0
        self.overdue = False
        """Whether the latest turn may have begun by itself before it was let go."""

    def shut(self) -> int:
        """The next turn, whose gate is not open yet."""
        self.turn, self._shut_at, self.overdue = self.turn % _TURNS + 1, perf_counter_ns(), False
        return self.turn

    def await_queued(self, limit_ns: float) -> bool:
        """Whether the runner said in time that its calls wait behind the gate."""
        end = perf_counter_ns() + limit_ns
        while self._queued.value != self.turn:
            if perf_counter_ns() > end:
                return False
        return True

    def open(self) -> int:
        """Let the calls go; the judge's time of that, in nanoseconds."""
        now = perf_counter_ns()
        self._open.value = self.turn
        self.overdue = now - self._shut_at >= LIMIT_NS
        return now

    def close(self) -> None:
        """Give the page back. Idempotent."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
