"""Who may use a GPU, machine-wide: locks for set-up and timing, reserved memory, and a place among its users.

All of it hangs on locks of files, which the kernel gives up with the process that holds them, however that ends.
"""

import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import count

from kernwright.core.errors import UserError
from kernwright.core.lease import FileShare, held, numbered, open_lease, take, taken, waiting

_POLL_S = 0.05


class DeviceLease:
    """The lease of one device; `name` is the same in every process of the machine."""

    def __init__(self, name: str) -> None:
        self._name = name

    @contextmanager
    def alone(self, *, undisturbed: bool = False) -> Iterator[None]:
        """For timing; `undisturbed`: nobody is `starting` meanwhile."""
        with self.held(alone=True), self._starts.held(alone=True) if undisturbed else nullcontext():
            yield

    def starting(self) -> AbstractContextManager[FileShare]:
        """Contexts of the device come and go: that delays single calls of others by a tenth of a millisecond."""
        return self._starts.held(alone=False)

    @property
    def _starts(self) -> "DeviceLease":
        return DeviceLease(f"{self._name}-starts")

    @contextmanager
    def held(self, *, alone: bool) -> Iterator[FileShare]:
        """Shared or alone."""
        with held(self._name, alone=alone) as share:
            yield share

    @contextmanager
    def reserved(self, nbytes: int, total: int, timing: int = 0) -> Iterator[None]:
        """Wait until `nbytes` of `total` are free of other processes' reservations.

        `timing`: what each takes beside that while it has the device alone; the largest of these is kept free.

        Whoever is next keeps the queue shut until there is room: a stream of small ones cannot starve a large one.

        Raises:
            UserError: it is more than there is.
        """
        if nbytes + timing > total:
            raise UserError(
                f"The workloads need about {(nbytes + timing) / 2**30:.0f} GiB on the device, which has "
                f"{total / 2**30:.0f} GiB; make them smaller."
            )
        queue = self._queue()
        try:
            take(queue, fcntl.LOCK_EX)
            with suppress(OSError):  # another user's file that is only readable looks as old as it is
                os.utime(queue)
            own = self._entered(nbytes, total, timing)
            if own is None:
                with waiting():
                    while (own := self._entered(nbytes, total, timing)) is None:
                        time.sleep(_POLL_S)
        finally:
            os.close(queue)
        try:
            yield
        finally:
            os.close(own)

    def wanted(self, for_s: float = 0.0) -> bool:
        """Whether whoever is next waits for room, and has for so many seconds."""
        queue = self._queue()
        try:
            waited_s = time.time() - os.fstat(queue).st_mtime
            # Less than nothing where the clock was set back: then nobody knows.
            return not taken(queue, fcntl.LOCK_SH) and not 0 <= waited_s < for_s
        finally:
            os.close(queue)

    def _queue(self) -> int:
        return open_lease(f"{self._name}-queue")

    def _entered(self, nbytes: int, total: int, timing: int) -> int | None:
        """A locked file that says how much; None where there is no room. To be called by whoever is next."""
        prefix, held, passing = f"{self._name}-memory-", 0, timing
        own: int | None = None
        known = numbered(prefix)
        for number in known:
            handle = open_lease(f"{prefix}{number}")
            if not taken(handle):
                theirs = _said(handle)
                held, passing = held + theirs[0], max(passing, theirs[1])
            elif own is None:
                own = handle
                continue
            os.close(handle)
        if held + nbytes + passing > total:
            if own is not None:
                os.close(own)
            return None
        if own is None:
            own = open_lease(f"{prefix}{max(known, default=-1) + 1}")
            take(own, fcntl.LOCK_EX)
        os.ftruncate(own, 0)
        os.pwrite(own, f"{nbytes} {timing}".encode(), 0)
        return own


def least_used(names: Sequence[str]) -> tuple[int, int]:
    """Which of these devices has the fewest users, the first of several; and the place there, as a locked descriptor.

    The place is given up by closing it. A user has the lowest place that is free; so they spread evenly.
    """
    for place in count():
        for index, name in enumerate(names):
            handle = open_lease(f"{name}-user-{place}")
            if taken(handle):
                return index, handle
            os.close(handle)
    raise AssertionError("unreachable")


def _said(handle: int) -> tuple[int, int]:
    """What a file says is reserved, and how much beside that for timing; nothing where it says something else."""
    words = os.pread(handle, 64, 0).split()
    held, timing = (int(word) if word.isdigit() else 0 for word in (*words, b"", b"")[:2])
    return held, timing
