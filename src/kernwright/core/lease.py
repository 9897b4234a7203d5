"""The machine-wide lease of a kind of device: a file that is locked, shared or alone."""

import os
import tempfile
from pathlib import Path


def open_lease(platform: str) -> int:
    """A descriptor of the platform's lease file, to be locked with `flock`; every user of the machine has the same.

    `/tmp` itself, not a folder of this user's, because other users time on the machine too.
    """
    path = Path(tempfile.gettempdir()) / f"kernwright-lease-{platform}.lock"
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        if os.fstat(handle).st_uid == os.geteuid():
            os.fchmod(handle, 0o666)
        return handle
    except PermissionError:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
