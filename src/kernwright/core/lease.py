"""The machine-wide lease of a kind of device: a file that is locked, shared or alone."""

import fcntl
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Protocol

PATIENCE_S, LOOK_S = 0.25, 0.002
"""So long a share that was lent is not taken again where others, who lend theirs too, may soon do so; it is looked that
often whether they have."""
_AROUND = re.compile(r"-(turn|gate|queue|user-\d+|memory-\d+)$")
"""Files beside a lease itself."""
on_waiting: ContextVar[Callable[[bool], None] | None] = ContextVar("on_waiting", default=None)
"""Called with True where what runs here begins to wait for another process's lease, and with False when it has it."""


def open_lease(platform: str) -> int:
    """A descriptor of the platform's lease file, to be locked with `flock`; every user of the machine has the same.

    `/tmp` itself, not a folder of this user's, because other users time on the machine too.
    """
    path = _path(platform)
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        if os.fstat(handle).st_uid == os.geteuid():
            os.fchmod(handle, 0o666)
        return handle
    except PermissionError:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def numbered(prefix: str) -> list[int]:
    """The numbers N for which there is a lease file `<prefix>N`; the prefix ends in a hyphen."""
    found = _path(prefix).parent.glob(_path(f"{prefix}*").name)
    names = [path.stem.rpartition("-")[2] for path in found]
    return sorted(int(name) for name in names if name.isascii() and name.isdigit())


def take(handle: int, kind: int) -> None:
    """Lock it, after whoever has it now; Ctrl-C ends the wait."""
    if not taken(handle, kind):
        with waiting():
            fcntl.flock(handle, kind)


def taken(handle: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Lock it if that can be done at once, and say whether it was done."""
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def holders() -> list[int]:
    """Processes that hold a lease of this machine, as far as it shows them; first those that have one for themselves.

    Who waits at a gate, or has memory reserved, holds none.
    """
    leases = [path for path in _path("*").parent.glob(_path("*").name) if not _AROUND.search(path.stem)]
    try:
        inodes = {str(path.stat().st_ino) for path in leases}
        lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    except OSError:
        return []
    # "1: FLOCK ADVISORY WRITE 4711 08:01:1234 0 EOF"; with an arrow before its kind it is somebody who waits
    held = [line[3:5] for line in lines if line[1] == "FLOCK" and line[5].rpartition(":")[2] in inodes]
    held.sort(key=lambda lock: lock[0] != "WRITE")
    return list(dict.fromkeys(int(pid) for _, pid in held if int(pid) > 0))


class Share(Protocol):
    """A share of a device's lease, while it is held."""

    def wanted(self) -> bool:
        """Whether somebody waits to have the device alone, who is to have it before this share ends."""

    def lend(self) -> bool:
        """Give it up, and take it again when they had the device: what uses the device stands still meanwhile. Whether
        they had it: others may keep their shares for long."""


class Kept:
    """A share that is given up at its end alone."""

    def wanted(self) -> bool:
        """Nobody is to have the device before."""
        return False

    def lend(self) -> bool:
        """Nobody waits for it."""
        return False


class FileShare:
    """A share of a device, by locks on these files."""

    def __init__(self, gate: int, door: int) -> None:
        self._gate, self._door = gate, door

    def take(self) -> None:
        """After whoever has the device alone, or is the next to."""
        take(self._gate, fcntl.LOCK_SH)
        take(self._door, fcntl.LOCK_SH)
        fcntl.flock(self._gate, fcntl.LOCK_UN)

    def wanted(self) -> bool:
        """Whoever waits to be alone keeps the gate shut."""
        free = taken(self._gate, fcntl.LOCK_SH)
        fcntl.flock(self._gate, fcntl.LOCK_UN)
        return not free

    def lend(self) -> bool:
        """Until they had it, or it is seen that others keep theirs."""
        fcntl.flock(self._door, fcntl.LOCK_UN)
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            time.sleep(LOOK_S)
            if not taken(self._door, fcntl.LOCK_SH):
                break
            if not self.wanted():  # they were quick
                return True
            fcntl.flock(self._door, fcntl.LOCK_UN)
        else:
            if taken(self._door, fcntl.LOCK_SH):
                return False
        self.take()
        return True


@contextmanager
def held(name: str, *, alone: bool) -> Iterator[FileShare]:
    """The lease of this name, shared or alone.

    Everyone passes a gate first, and whoever wants to be alone keeps it shut while waiting: a stream of sharers
    cannot starve them. Nor can they starve sharers: to the gate comes one of them at a time, when the one before
    is done, and sharers who came meanwhile are through by then.
    """
    turn, gate, door = (open_lease(each) for each in (f"{name}-turn", f"{name}-gate", name))
    share = FileShare(gate, door)
    try:
        if alone:
            take(turn, fcntl.LOCK_EX)
            take(gate, fcntl.LOCK_EX)
            take(door, fcntl.LOCK_EX)
            fcntl.flock(gate, fcntl.LOCK_UN)
        else:
            share.take()
        yield share
    finally:
        for handle in (gate, door, turn):
            os.close(handle)


@contextmanager
def offered(name: str) -> Iterator[bool]:
    """A share of the lease of this name, if it can be had at once; whether it is held."""
    gate, door = open_lease(f"{name}-gate"), open_lease(name)
    try:
        free = taken(gate, fcntl.LOCK_SH) and taken(door, fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield free
    finally:
        for handle in (gate, door):
            os.close(handle)


@contextmanager
def waiting() -> Iterator[None]:
    """Around a wait for what other processes hold: it is told to whoever listens, because it is nobody's slowness."""
    told = on_waiting.get() or _nobody
    told(True)
    try:
        yield
    finally:
        told(False)


def _nobody(waits: bool) -> None:
    pass


def _path(platform: str) -> Path:
    return Path(tempfile.gettempdir()) / f"kernwright-lease-{platform}.lock"
