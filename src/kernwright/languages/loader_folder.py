"""Where loaders keep what they compiled. Standard library only, so that an export can inline it."""

import atexit
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path


def loader_folder() -> Path:
    """The build stage's artefacts; elsewhere this user's folder of compiled kernels, kept from process to process.

    What lies there is loaded as code, and where temporary files are anyone can make a folder of that name first. So it
    is a folder and no link, this user's, and nobody else may write into it; else this process has a fresh one.
    """
    built = os.environ.get("KERNWRIGHT_ARTIFACTS")
    if built:
        return Path(built)
    folder = Path(tempfile.gettempdir()) / f"kernels-{os.geteuid()}"
    with suppress(OSError):  # what is there already, and whose it is, is looked at next
        folder.mkdir(mode=0o700)
    try:
        about = folder.lstat()
    except OSError:
        return _fresh_folder()
    others_write = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    mine = stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and not others_write
    return folder if mine else _fresh_folder()


@cache
def _fresh_folder() -> Path:
    folder = tempfile.mkdtemp(prefix="kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
