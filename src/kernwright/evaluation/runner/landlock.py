"""Landlock, the kernel's file-system sandbox for unprivileged processes, through raw system calls."""

import ctypes
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from . import kernel

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_VERSION_1 = (1 << 13) - 1
_FILE_ONLY = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEV
_TCP = 0b11
_SCOPES = 0b11
"""Abstract unix sockets and signals."""


def version() -> int:
    """The kernel's Landlock version. Raises OSError where there is none."""
    return kernel.syscall("landlock", _CREATE_RULESET, None, 0, _VERSION_FLAG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """What stays open, each with all that lies below it."""

    read: Sequence[str]
    write: Sequence[str]
    devices: Sequence[str]
    """Plain ones, without ioctl."""
    accelerators: Sequence[str] = ()
    """Device nodes with ioctl."""


def restrict(paths: Paths, *, execute: bool, network: bool) -> int:
    """Confine this thread and what it starts, for good; returns the version that held.

    Needs `no_new_privs`. Paths that do not exist or cannot be opened stay closed.
    """
    abi = version()
    handled = _VERSION_1
    handled |= _REFER if abi >= 2 else 0
    handled |= _TRUNCATE if abi >= 3 else 0
    handled |= _IOCTL_DEV if abi >= 5 else 0
    fields = [handled, 0 if network or abi < 4 else _TCP, _SCOPES if abi >= 6 else 0]
    fields = fields[: 1 if abi < 4 else 2 if abi < 6 else 3]
    attributes = (ctypes.c_uint64 * len(fields))(*fields)
    pointer = ctypes.cast(attributes, ctypes.c_void_p)
    ruleset = kernel.syscall("landlock_create_ruleset", _CREATE_RULESET, pointer, ctypes.sizeof(attributes), 0)
    try:
        looking = READ_FILE | READ_DIR | (EXECUTE if execute else 0)
        everything = handled & ~(_MAKE_CHAR | _MAKE_BLOCK) & ~(0 if execute else EXECUTE)
        device = READ_FILE | WRITE_FILE
        for opened, access in (
            (paths.read, looking),
            (paths.write, everything),
            (paths.devices, device),
            (paths.accelerators, device | handled & _IOCTL_DEV),
        ):
            for path in opened:
                _allow(ruleset, path, access)
        kernel.syscall("landlock_restrict_self", _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return abi


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            access &= _FILE_ONLY
        rule = access.to_bytes(8, "little") + fd.to_bytes(4, "little")
        kernel.syscall("landlock_add_rule", _ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)
