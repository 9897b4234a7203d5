"""The processes below a process, read from /proc."""

import contextlib
import os
import signal
import time
from collections.abc import Container
from pathlib import Path

_ROUNDS_S = 10.0


def threads(pid: int) -> list[int]:
    """Thread ids; empty once the process is gone."""
    try:
        with os.scandir(f"/proc/{pid}/task") as listing:
            return [int(entry.name) for entry in listing]
    except OSError:
        return []


def read(path: str) -> bytes:
    """The start of a file under /proc; empty where it is gone or closed to us."""
    # os-level calls: this runs between two timed samples.
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(fd, 65536)
    except OSError:
        return b""
    finally:
        os.close(fd)


def lines(path: str) -> list[bytes]:
    """Of a file under /proc; none where it is gone or closed to us.

    Of all that may end a line the kernel writes only "\\n" otherwise where it stands in the name of a file.
    """
    try:
        return Path(path).read_bytes().split(b"\n")[:-1]
    except OSError:
        return []


def children(pid: int) -> list[int]:
    """Processes that any thread of `pid` started or inherited."""
    found: list[int] = []
    for thread in threads(pid):
        found.extend(map(int, read(f"/proc/{pid}/task/{thread}/children").split()))
    return found


def descendants(pid: int) -> list[int]:
    """Every process below `pid`, ended ones that nobody has waited for included."""
    found: list[int] = []
    queue = [pid]
    seen = {pid}
    while queue:
        for child in children(queue.pop()):
            if child not in seen:
                seen.add(child)
                found.append(child)
                queue.append(child)
    return found


def is_alive(pid: int) -> bool:
    """Whether `pid` exists and is no zombie."""
    fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return bool(fields) and fields[0] not in (b"Z", b"X")


def is_stopped(pid: int) -> bool:
    """Whether no thread of it runs any more; a signal to stop waits for the end of a long system call."""
    for thread in threads(pid):
        fields = read(f"/proc/{pid}/task/{thread}/stat").rpartition(b")")[2].split()
        if fields and fields[0] not in (b"T", b"t", b"Z", b"X"):
            return False
    return True


def await_left(pid: int) -> bool:
    """Wait until the first thread of a stopped process is on no core: it is for a moment after it counts as stopped.

    False where this user may not ask: the kernel tells in which system call a thread is once it has left its core.
    """
    call = read(f"/proc/{pid}/syscall")
    return bool(call) and not call.startswith(b"running")


def send(pid: int, number: int) -> None:
    """A signal to a process that may be gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def stop_fresh(pid: int, stopped: set[int], spare: Container[int] = ()) -> bool:
    """SIGSTOP what a walk below `pid` finds that `stopped` does not name, which it does then; whether there was any."""
    fresh = [found for found in descendants(pid) if found not in stopped and found not in spare]
    for found in fresh:
        send(found, signal.SIGSTOP)
        stopped.add(found)
    return bool(fresh)


def kill_below(pid: int, spare: Container[int] = ()) -> bool:
    """Kill everything below `pid`, however it forks meanwhile; False where something would not die.

    Stopping first keeps a fork bomb from outrunning the walk. `pid` must be a subreaper, or what sets up a session of
    its own and forks twice is no longer below it.
    """
    deadline = time.monotonic() + _ROUNDS_S
    while time.monotonic() < deadline:
        stopped = set[int]()
        while stop_fresh(pid, stopped, spare):
            pass
        alive = [found for found in descendants(pid) if found not in spare and is_alive(found)]
        if not alive:
            return True
        for found in alive:
            send(found, signal.SIGKILL)
        time.sleep(0.001)
    return False


def folder_of(module: object) -> Path | None:
    """The folder of a package, or the file of a module."""
    file = getattr(module, "__file__", None)
    if file is None:
        return None
    path = Path(file)
    return path.parent if path.name.startswith("__init__.") else path
