"""The machine-wide lease, as operators hold it: a share, which keeps timing away while heavy work runs."""

import asyncio
import contextlib
import fcntl
import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

LOOK_S = 0.05


@contextlib.asynccontextmanager
async def share(platform: str) -> AsyncIterator[None]:
    """Hold a share of the platform's lease; whoever times holds the same file alone."""
    path = Path(tempfile.gettempdir()) / f"kernwright-lease-{platform}.lock"
    # Other users of the machine time on it too, so the file is everyone's.
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(LOOK_S)
        yield
    finally:
        os.close(handle)
