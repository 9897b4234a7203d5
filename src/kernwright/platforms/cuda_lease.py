"""Who may use a GPU, machine-wide: locks for set-up and timing, and a ledger of reserved memory."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kernwright.core.errors import UserError
from kernwright.core.lease import open_lease

_POLL_S = 0.05


class DeviceLease:
    """The lease of one device; `name` is the same in every process of the machine."""

    def __init__(self, name: str) -> None:
        self._name = name

    @contextmanager
    def held(self, *, alone: bool) -> Iterator[None]:
        """Shared or alone.

        Everyone passes a gate first, and whoever wants to be alone keeps it shut while waiting: a stream of sharers
        cannot starve them.
        """
        kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        gate, door = open_lease(f"{self._name}-gate"), open_lease(self._name)
        try:
            fcntl.flock(gate, kind)
            fcntl.flock(door, kind)
            fcntl.flock(gate, fcntl.LOCK_UN)
            yield
        finally:
            os.close(gate)
            os.close(door)

    @contextmanager
    def reserved(self, nbytes: int, total: int) -> Iterator[None]:
        """Wait until `nbytes` of `total` are free of other processes' reservations.

        Raises:
            UserError: it is more than there is.
        """
        if nbytes > total:
            raise UserError(
                f"The workloads need about {nbytes / 2**30:.0f} GiB on the device, which has {total / 2**30:.0f} GiB; "
                "make them smaller."
            )
        own = f"{os.getpid()}-{time.monotonic_ns()}"
        while not self._entered(own, nbytes, total):
            time.sleep(_POLL_S)
        try:
            yield
        finally:
            with self._ledger() as entries:
                entries.pop(own, None)

    def _entered(self, own: str, nbytes: int, total: int) -> bool:
        with self._ledger() as entries:
            if sum(entries.values()) + nbytes > total:
                return False
            entries[own] = nbytes
            return True

    @contextmanager
    def _ledger(self) -> Iterator[dict[str, int]]:
        """The reservations of processes that live, written back afterwards."""
        handle = open_lease(f"{self._name}-memory")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            text = os.pread(handle, 1 << 20, 0)
            known: dict[str, int] = json.loads(text) if text.strip() else {}
            entries = {key: size for key, size in known.items() if _alive(int(key.partition("-")[0]))}
            yield entries
            data = json.dumps(entries).encode()
            os.ftruncate(handle, 0)
            os.pwrite(handle, data, 0)
        finally:
            os.close(handle)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
