"""How much memory there is, and a ceiling so that a problem which needs more fails with a sentence."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int | None:
    """What this process could still use: free memory of the machine or of its control group; None if not known."""
    found = [n for n in (_machine(), _group()) if n is not None]
    return min(found, default=None)


def hold_to_available() -> None:
    """Refuse allocations beyond what there is, rather than have the kernel kill a process for them.

    Only private memory counts, so that shared inputs and outputs are not held to it.
    """
    free = available_bytes()
    if free is None:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    ceiling = free if hard == resource.RLIM_INFINITY else min(free, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (ceiling, hard))


@contextmanager
def let_go() -> Iterator[None]:
    """Processes that are started inside are not held to it: their runners have limits of their own, and a tool that
    watches memory reserves far more than it uses."""
    held, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (held, hard))


def _machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), None)


def _group() -> int | None:
    """Control groups, version 2 where it is there, else 1."""
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            most, now = (int((_CGROUP / name).read_text()) for name in (limit, used))
        except (OSError, ValueError):
            continue
        return max(0, most - now)
    return None
