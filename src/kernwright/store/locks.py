"""One engine per run: a file lock that the kernel gives back however the process ends."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from kernwright.core.errors import RunLocked

from .disk import Writing, writing

_PAUSE_S = 0.02
_open: set[int] = set()
"""Descriptors of this process's lock files."""


class Locks:
    """Lock files of runs. They stay behind: to delete one would let two engines lock two files of one name."""

    def __init__(self, folder: Path, writing: Writing = writing) -> None:
        """`writing` turns an OSError of the folder into the sentence for it."""
        self._folder = folder
        self._writing = writing

    def reserve(self, run: str) -> bool:
        """Whether this call made the run's lock file, and so nobody else has the name."""
        with self._writing(self._folder, run):
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                self._path(run).touch(exist_ok=False)
            except FileExistsError:
                return False
        return True

    @contextmanager
    def hold(self, run: str, patience_s: float = 0.0) -> Iterator[None]:
        """Hold the run until the end of the block.

        Raises:
            RunLocked: another process, or another block of this one, holds it and did not let go within `patience_s`.
            OSError: the file system knows no locks.
        """
        with self._writing(self._folder, run):
            self._folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path(run), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        _remember(descriptor)
        try:
            deadline = time.monotonic() + patience_s
            while not _taken(descriptor):
                if time.monotonic() >= deadline:
                    raise _locked(run, descriptor)
                time.sleep(_PAUSE_S)
            with self._writing(self._folder, run):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            yield
        finally:
            if descriptor in _open:  # not in a forked child, where it is closed already
                _open.discard(descriptor)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_UN)  # at once, even if a child that is being forked has a copy
                finally:
                    os.close(descriptor)

    def _path(self, run: str) -> Path:
        return self._folder / f"{quote(run, safe='')}.lock"


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _locked(run: str, descriptor: int) -> RunLocked:
    pid = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
    holder = f"the process with pid {pid}" if pid else "another process"
    return RunLocked(f"Run {run!r} is held by {holder}; wait for it to end, or stop it, and try again.")


def _remember(descriptor: int) -> None:
    global _forks_watched
    if not _forks_watched:
        os.register_at_fork(after_in_child=_close_inherited)
        _forks_watched = True
    _open.add(descriptor)


_forks_watched = False


def _close_inherited() -> None:
    # The lock belongs to every copy of the descriptor: a forked child would keep it beyond the engine's death.
    for descriptor in _open:
        os.close(descriptor)
    _open.clear()
