"""How much disk a runner holds: what lies in its scratch folder, and files it deleted and keeps open."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from .scratch import walk

DEEPEST = 64


def held_bytes(scratch: Path, pids: Iterable[int]) -> int:
    """Bytes on the disk of `scratch` by files in it and by deleted files that these processes have open."""
    return _in_folder(scratch) + sum(_deleted(pid, scratch) for pid in pids)


def _in_folder(folder: Path) -> int:
    """What cannot be walked counts as nothing: other limits hold for it."""
    total = 0
    with suppress(OSError):
        for entry in walk(folder, DEEPEST):
            with suppress(OSError):
                total += entry.stat(follow_symlinks=False).st_blocks * 512
    return total


def _deleted(pid: int, scratch: Path) -> int:
    """Zero where this process may not look; a mapping that outlives its descriptor is not seen."""
    total, seen = 0, set[tuple[int, int]]()
    with suppress(OSError):
        disk = scratch.stat().st_dev
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                about = entry.stat()
                key = (about.st_dev, about.st_ino)
                if stat.S_ISREG(about.st_mode) and about.st_nlink == 0 and about.st_dev == disk and key not in seen:
                    seen.add(key)
                    total += about.st_blocks * 512
    return total
