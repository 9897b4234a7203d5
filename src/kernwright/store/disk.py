"""What goes wrong with a disk, as sentences."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kernwright.core.errors import MachineFault, UserError


def full(folder: Path, run: str) -> MachineFault:
    """The error for a disk without room; `run` may be empty."""
    return MachineFault(
        f"The disk is full: {folder} takes no more data. Nothing that was finished is lost; "
        f"free space and `kernwright resume {run or 'RUN'}`."
    )


@contextmanager
def writing(folder: Path, run: str = "", *, chosen_by: str = "$KERNWRIGHT_HOME") -> Iterator[None]:
    """Turns an OSError inside into the sentence for it; `chosen_by` is what says which folder it is.

    Raises:
        MachineFault: the disk is full or failed.
        UserError: the folder cannot be written.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise full(folder, run) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENOENT):
            raise UserError(
                f"The folder {folder} cannot be written ({error.strerror}); make it writable, or choose another "
                f"one with {chosen_by}."
            ) from error
        raise MachineFault(f"Writing to {folder} failed: {error.strerror}.") from error


def made_writable(folder: Path, *, chosen_by: str = "$KERNWRIGHT_HOME") -> Path:
    """The folder, made where it is not there; a file was written in it and is gone again.

    Raises:
        MachineFault: the disk is full or failed.
        UserError: the folder cannot be written.
    """
    with writing(folder, chosen_by=chosen_by):
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    return folder
