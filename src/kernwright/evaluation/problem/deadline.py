"""A deadline on code that runs in the judge's own process."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

IMPORTS_S, AGAIN_S = 60.0, 0.05
"""So much longer an import may take, which an exception would leave half done: its package is imported anew next time,
and its parts, which are there, are no longer its members. And after so long it is looked at again."""
IMPORT = "<frozen importlib._bootstrap>", "_find_and_load"
"""File and name of the function that is at work where Python imports."""


class Overdue(Exception):
    """The code inside took too long."""


@contextmanager
def deadline(limit_s: float) -> Iterator[None]:
    """Raise `Overdue` inside the block after `limit_s` seconds.

    By a signal, so only in the main thread of a process, where a judge's worker runs; elsewhere, and in native
    code that does not return, the executor's deadline is what holds.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    last = monotonic() + limit_s + IMPORTS_S

    def ring(_: int, frame: FrameType | None) -> None:
        if _imports(frame) and monotonic() < last:
            signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
            return
        raise Overdue(f"it took longer than {limit_s:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _imports(frame: FrameType | None) -> bool:
    while frame is not None:
        if (frame.f_code.co_filename, frame.f_code.co_name) == IMPORT:
            return True
        frame = frame.f_back
    return False
