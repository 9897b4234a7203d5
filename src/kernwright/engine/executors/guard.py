"""Keeps a worker's processes from outliving it or the engine."""

import contextlib
import ctypes
import os
import select
import signal
import time
from io import FileIO
from pathlib import Path
from typing import BinaryIO

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
GRACE_S = 1.0
"""For a worker that waits for work to close its evaluator, once the engine is gone."""
LOOK_S = 0.5


def prctl(option: int, value: int) -> None:
    """A no-op where there is no such call."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def fork_guarded(engine: int) -> None:
    """Returns in a child. The calling process stays behind as its guard and never returns.

    The guard ends the child with all its descendants, whatever sessions they moved to, when
    the engine closes file descriptor 0 or dies, or when the child ends; then it exits as the
    child did. A thread of the child could not do this: native code may hold it up for ever.
    """
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    guard = os.getpid()
    child = os.fork()
    if child:
        os._exit(_guard(child, engine))
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != guard:
        os._exit(1)


def descendants(pid: int) -> list[int]:
    """Every living process below this one."""
    below: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if state not in "ZX":
                    below.setdefault(int(parent), []).append(int(folder.name))
    found, queue = [], [pid]
    while queue:
        children = below.get(queue.pop(), [])
        found += children
        queue += children
    return found


def end_below(pid: int, limit_s: float = 5.0) -> None:
    """Kill every descendant, those that are born meanwhile included."""
    deadline = time.monotonic() + limit_s
    while (alive := descendants(pid)) and time.monotonic() < deadline:
        for one in alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL)
        time.sleep(0.005)


def _guard(child: int, engine: int) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ended = os.pidfd_open(child)
    poll = select.poll()
    poll.register(0, 0)
    poll.register(ended, select.POLLIN)
    while not (ready := poll.poll(LOOK_S * 1000)) and os.getppid() == engine:
        pass
    if all(fd != ended for fd, _ in ready):
        select.select([ended], [], [], GRACE_S)
    end_below(os.getpid())
    code = _reaped().get(child, 1)
    return code if code >= 0 else 128 - code


def _reaped() -> dict[int, int]:
    codes = {}
    with contextlib.suppress(ChildProcessError):
        while (got := os.waitpid(-1, os.WNOHANG))[0]:
            codes[got[0]] = os.waitstatus_to_exitcode(got[1])
    return codes


def claim_pipes() -> tuple[BinaryIO, FileIO]:
    """Standard input and output as the engine's messages; what is printed from here on goes to standard error."""
    jobs, replies = os.fdopen(os.dup(0), "rb"), FileIO(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    return jobs, replies
