"""Temporary folders of a judge, and the removal of those that a killed one left."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PREFIX = "kernwright-"
OLD_S = 600.0
"""A folder this long unchanged, whose maker is gone, belongs to nobody."""


def make_folder() -> Path:
    """A new folder named after this process; a good moment to sweep as well."""
    _sweep()
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))


def remove(folder: Path) -> None:
    """Remove what hostile code may have nested deeper than Python recurses or a path is long."""
    subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL, check=False)


def walk(folder: Path, depth: int) -> Iterator[os.DirEntry[str]]:
    """Every entry below `folder`, links not followed.

    Raises:
        OSError: `folder` is a link or no folder, or something lies deeper than `depth` folders.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise NotADirectoryError(f"{folder.name} is no folder")
    queue = [(str(folder), 1)]
    while queue:
        here, level = queue.pop()
        if level > depth:
            raise OSError(f"folders are nested more than {depth} deep")
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    queue.append((entry.path, level + 1))
                yield entry


def _sweep() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).split("-")[0]
        with suppress(OSError):
            about = folder.lstat()
            mine = about.st_uid == os.getuid() and folder.is_dir() and not folder.is_symlink()
            old = time.time() - about.st_mtime > OLD_S
            if mine and old and pid.isdigit() and not Path("/proc", pid).exists():
                remove(folder)
