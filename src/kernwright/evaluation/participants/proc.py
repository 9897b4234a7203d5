"""What the kernel says of a process and of the machine."""

import os
import time
from pathlib import Path

from kernwright.evaluation.runner import tree

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def pid_of(pidfd: int) -> int:
    """The process id, in this process's own PID namespace, behind a descriptor."""
    return int(tree.read(f"/proc/self/fdinfo/{pidfd}").split(b"Pid:")[1].split()[0])


def status_number(status: bytes, name: bytes) -> int:
    """The number behind a name in `/proc/PID/status` or the like; 0 where there is none."""
    _, found, rest = status.partition(b"\n" + name + b":")
    return int(rest.split(None, 1)[0]) if found else 0


def used_ns(pid: int) -> int:
    """Processor time of a process that may be gone."""
    try:
        return time.clock_gettime_ns(~pid << 3 | 2)
    except OSError:
        return 0


def waited_ns(pid: int) -> int:
    """Processor time of its children that it waited for."""
    fields = tree.read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if not fields:
        return 0
    return (int(fields[13]) + int(fields[14])) * _TICK_NS


def cpu_ns(init: int) -> int:
    """Processor time of all processes below one, those that ended included (these to a clock tick)."""
    return waited_ns(init) + sum(used_ns(pid) + waited_ns(pid) for pid in tree.descendants(init))


def free_disk(folder: Path) -> int:
    """Bytes that are free where this folder lies."""
    about = os.statvfs(folder)
    return about.f_bavail * about.f_frsize


def available_memory() -> int:
    """Bytes of the machine's memory."""
    return status_number(tree.read("/proc/meminfo"), b"MemAvailable") << 10
