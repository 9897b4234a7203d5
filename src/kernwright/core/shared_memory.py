"""Memory of the host that can be passed to a process which is not trusted."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager


def sealed_memory(name: str, nbytes: int) -> int:
    """A descriptor of anonymous memory whose size nobody can change: a page that is cut off under its reader kills it.

    `name` appears in the system's lists alone.
    """
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, nbytes)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    return fd


@contextmanager
def memory_file(data: bytes) -> Iterator[int]:
    """A descriptor of anonymous memory that holds these bytes; closed at the end."""
    fd = os.memfd_create("data", os.MFD_CLOEXEC)
    try:
        os.write(fd, data)
        yield fd
    finally:
        os.close(fd)
