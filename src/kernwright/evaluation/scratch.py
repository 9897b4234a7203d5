"""Temporary folders of a judge, and the removal of those that a killed one left."""

import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

PREFIX = "kernwright-"
OLD_S = 600.0
"""A folder this long unchanged, whose maker is gone, belongs to nobody."""


def make_folder() -> Path:
    """A new folder named after this process; a good moment to sweep as well."""
    _sweep()
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))


def _sweep() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).split("-")[0]
        with suppress(OSError):
            about = folder.lstat()
            mine = about.st_uid == os.getuid() and folder.is_dir() and not folder.is_symlink()
            old = time.time() - about.st_mtime > OLD_S
            if mine and old and pid.isdigit() and not Path("/proc", pid).exists():
                shutil.rmtree(folder, ignore_errors=True)
