"""A processor's counters, read from outside a process by `perf_event_open(2)`, whose manual page has the numbers."""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Callable, Sequence

from kernwright.core.profile import Profile

LINE_BYTES = 64
_SYSCALL = {"x86_64": 298, "aarch64": 241}
_HARDWARE, _SOFTWARE = 0, 1
EVENTS = {
    "cycles": (_HARDWARE, 0),
    "instructions": (_HARDWARE, 1),
    "cache_misses": (_HARDWARE, 3),
    "branch_misses": (_HARDWARE, 5),
    "task_ns": (_SOFTWARE, 1),
    "page_faults": (_SOFTWARE, 2),
    "switches": (_SOFTWARE, 3),
}
"""Type and number of each."""
_ATTRIBUTES_BYTES = 112
_DISABLED, _INHERIT, _NO_KERNEL, _NO_HYPERVISOR = 1 << 0, 1 << 1, 1 << 5, 1 << 6
_TIMES = 1 | 2
"""Read with each value: how long it was enabled, and how long it was on a counter."""
_ENABLE, _DISABLE, _RESET = 0x2400, 0x2401, 0x2403
_libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """The kernel does not count this; the text says why."""


def counted(threads: Sequence[int], work: Callable[[], None]) -> tuple[dict[str, float], dict[str, str]]:
    """What these threads, and those that they start, were counted doing during `work`; and what could not be, and why.

    Kernel time is left out of hardware counters: a process of one's own may be counted so with `perf_event_paranoid`
    up to 2. A counter that had to share its place is scaled up.
    """
    opened: dict[str, list[int]] = {}
    refused: dict[str, str] = {}
    try:
        for name, (kind, number) in EVENTS.items():
            opened[name] = []
            try:
                for thread in threads:
                    opened[name].append(_opened(thread, kind, number))
            except Refused as error:
                refused[name] = str(error)
        live = [fd for name, fds in opened.items() if name not in refused for fd in fds]
        _control(live, _RESET)
        _control(live, _ENABLE)
        try:
            work()
        finally:
            _control(live, _DISABLE)
        return {name: sum(map(_value, fds)) for name, fds in opened.items() if name not in refused and fds}, refused
    finally:
        for fds in opened.values():
            for fd in fds:
                os.close(fd)


def profile_of(short: dict[str, float], long: dict[str, float], refused: dict[str, str], calls: int) -> Profile:
    """Counters of one call: what `2 * calls` in a message did more than `calls`."""
    per_call = {name: max(0.0, long[name] - short[name]) / calls for name in long if name in short}
    task_ns = per_call.pop("task_ns", 0.0)
    if per_call.get("cycles", 0.0) > 0 and "instructions" in per_call:
        per_call["ipc"] = per_call["instructions"] / per_call["cycles"]
    if task_ns > 0 and "cache_misses" in per_call:
        per_call["miss_bytes_per_s"] = per_call["cache_misses"] * LINE_BYTES / task_ns * 1e9
    reasons = {reason: [n for n, r in refused.items() if r == reason] for reason in refused.values()}
    missing = tuple(f"counters: {', '.join(names)}: {reason}" for reason, names in reasons.items())
    return Profile(tools=("counters",) if per_call else (), missing=missing, counters=per_call)


def _opened(thread: int, kind: int, number: int) -> int:
    flags = _DISABLED | _INHERIT | (0 if kind == _SOFTWARE else _NO_KERNEL | _NO_HYPERVISOR)
    attributes = struct.pack("=IIQQQQQ", kind, _ATTRIBUTES_BYTES, number, 0, 0, _TIMES, flags)
    buffer = ctypes.create_string_buffer(attributes.ljust(_ATTRIBUTES_BYTES, b"\0"), _ATTRIBUTES_BYTES)
    syscall = _SYSCALL.get(platform.machine())
    if syscall is None:
        raise Refused(f"they are not read on {platform.machine()}")
    anywhere, alone, close_on_exec = -1, -1, 8
    arguments = (thread, anywhere, alone, close_on_exec)
    fd = _libc.syscall(ctypes.c_long(syscall), buffer, *(ctypes.c_long(a) for a in arguments))
    if fd >= 0:
        return int(fd)
    code = ctypes.get_errno()
    if code in (errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV):
        raise Refused("this machine has no such counter, as virtual ones often have not")
    if code in (errno.EACCES, errno.EPERM):
        raise Refused("not permitted; lower kernel.perf_event_paranoid to 2 or less")
    raise Refused(os.strerror(code))


def _control(fds: Sequence[int], request: int) -> None:
    for fd in fds:
        _libc.ioctl(ctypes.c_int(fd), ctypes.c_ulong(request), ctypes.c_ulong(0))


def _value(fd: int) -> float:
    value, enabled, running = struct.unpack("=QQQ", os.read(fd, 24))
    return value * enabled / running if running else 0.0
