"""A deadline on code that runs in the judge's own process."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


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

    def ring(*_: object) -> None:
        raise Overdue(f"it took longer than {limit_s:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
