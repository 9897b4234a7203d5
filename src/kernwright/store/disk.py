"""What goes wrong with a disk, as sentences."""

import errno
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from kernwright.core.errors import MachineFault, UserError

_PROBE_BYTES = 1 << 16
"""A full disk may still have room for a name."""
Writing = Callable[..., AbstractContextManager[None]]
"""`writing`, or the same with another advice."""


class DiskFull(MachineFault):
    """A disk has no room; `remedy` is what goes on once there is some."""

    def __init__(self, folder: Path, remedy: str) -> None:
        super().__init__(folder, remedy)
        self.folder = folder
        self.remedy = remedy

    def __str__(self) -> str:
        return (
            f"The disk is full: {self.folder} takes no more data. Nothing that was finished is lost; "
            f"free space and {self.remedy}."
        )


def full(folder: Path, run: str) -> DiskFull:
    """The error for a disk without room for a run; `run` may be empty."""
    return DiskFull(folder, f"`kernwright resume {run or 'RUN'}`")


@contextmanager
def writing(folder: Path, run: str = "", *, chosen_by: str = "$KERNWRIGHT_HOME", remedy: str = "") -> Iterator[None]:
    """Turns an OSError inside into the sentence for it; `chosen_by` is what says which folder it is.

    `remedy` is what goes on once there is room; without one, to resume the run.

    Raises:
        DiskFull: there is no room.
        MachineFault: the disk failed.
        UserError: the folder cannot be written.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise (DiskFull(folder, remedy) if remedy else full(folder, run)) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENOENT):
            raise UserError(
                f"The folder {folder} cannot be written ({error.strerror}); make it writable, or choose another "
                f"one with {chosen_by}."
            ) from error
        raise MachineFault(f"Writing to {folder} failed: {error.strerror}.") from error


def made_writable(folder: Path, *, chosen_by: str = "$KERNWRIGHT_HOME", remedy: str = "") -> Path:
    """The folder, made where it is not there; some data was written in it and is gone again. Otherwise as `writing`.

    Raises:
        DiskFull: there is no room.
        MachineFault: the disk failed.
        UserError: the folder cannot be written.
    """
    with writing(folder, chosen_by=chosen_by, remedy=remedy):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".") as probe:
            probe.write(bytes(_PROBE_BYTES))
            probe.flush()
    return folder
