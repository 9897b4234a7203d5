"""System calls that Python does not offer. Every failure is an OSError that names the call."""

import ctypes
import errno
import os
import platform

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 24, 36, 38
PR_SET_KEEPCAPS, PR_SET_SECCOMP, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, PR_CAP_AMBIENT_CLEAR_ALL = 8, 22, 47, 2, 4
CAP_PERFMON = 38

_MOUNT_SETATTR = 442
_CAPGET, _CAPSET = {"x86_64": 125, "aarch64": 90}, {"x86_64": 126, "aarch64": 91}
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
MACHINE = platform.machine()


def _checked(name: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def syscall(name: str, number: int, *arguments: int | ctypes.c_void_p | bytes | None) -> int:
    """A raw system call; integers are passed as longs."""
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(name, _libc.syscall(ctypes.c_long(number), *converted))


def prctl(name: str, option: int, *arguments: int | ctypes.c_void_p) -> int:
    """`prctl(2)`; `name` appears in the error."""
    padded = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in (*arguments, 0, 0, 0, 0)[:4]]
    return _checked(name, _libc.prctl(ctypes.c_int(option), *padded))


def unshare(flags: int) -> None:
    """`unshare(2)`."""
    _checked("unshare", _libc.unshare(ctypes.c_int(flags)))


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """`mount(2)`."""
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    result = _libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])
    _checked(f"mount {target}", result)


def read_only(target: str) -> None:
    """Make a mount and everything mounted below it read-only."""
    attributes = (ctypes.c_uint64 * 4)(MS_RDONLY | MS_NOSUID, 0, 0, 0)
    at_fdcwd, at_recursive = -100, 0x8000
    pointer = ctypes.cast(attributes, ctypes.c_void_p)
    syscall("mount_setattr", _MOUNT_SETATTR, at_fdcwd, os.fsencode(target), at_recursive, pointer, 32)


def detach(target: str) -> None:
    """Lazy unmount."""
    _checked(f"umount {target}", _libc.umount2(os.fsencode(target), MNT_DETACH))


def pivot_root(new: str, old: str) -> None:
    """`pivot_root(2)`."""
    syscall("pivot_root", _PIVOT_ROOT[MACHINE], os.fsencode(new), os.fsencode(old))


def drop_bounding_set() -> None:
    """Let no program that is started gain a capability, where this process may decide that."""
    for capability in range(64):
        try:
            prctl("capbset", PR_CAPBSET_DROP, capability)
        except OSError:  # past the last capability of this kernel, or none held to drop with
            break


def drop_capabilities(but: int | None = None) -> None:
    """Give up every capability, for this process and whatever it starts; `but` one that was made to survive."""
    prctl("cap_ambient", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    data = (ctypes.c_uint32 * 6)()
    if but is not None:
        data[3 * (but // 32) : 3 * (but // 32) + 3] = [1 << but % 32] * 3
    _capabilities("capset", _CAPSET[MACHINE], data)
    if but is not None:
        prctl("cap_ambient", PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, but)


def make_survive(capability: int) -> None:
    """Let a capability be kept over a change of user, by `drop_capabilities`. Before the bounding set is dropped."""
    data = (ctypes.c_uint32 * 6)()
    _capabilities("capget", _CAPGET[MACHINE], data)
    place = 3 * (capability // 32)
    if not data[place + 1] & 1 << capability % 32:
        raise OSError(errno.EPERM, f"capability {capability} is not held")
    data[place + 2] |= 1 << capability % 32
    _capabilities("capset", _CAPSET[MACHINE], data)
    prctl("keepcaps", PR_SET_KEEPCAPS, 1)


def _capabilities(name: str, number: int, data: "ctypes.Array[ctypes.c_uint32]") -> None:
    """Effective, permitted and inheritable ones, of 0 to 31 and of 32 to 63."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
    syscall(name, number, *(ctypes.cast(array, ctypes.c_void_p) for array in (header, data)))


class _Stretch(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def read_memory(pid: int, address: int, into: int, length: int) -> int:
    """Copy so many bytes of another process's memory to an address of this one's; how many came."""
    return _across("process_vm_readv", pid, _Stretch(into, length), _Stretch(address, length))


def write_memory(pid: int, address: int, source: int, length: int) -> int:
    """Copy so many bytes from an address of this process's to another one's memory; how many went."""
    return _across("process_vm_writev", pid, _Stretch(source, length), _Stretch(address, length))


def _across(name: str, pid: int, local: _Stretch, remote: _Stretch) -> int:
    call, one = getattr(_libc, name), ctypes.c_ulong(1)
    call.restype = ctypes.c_ssize_t
    return _checked(name, int(call(pid, ctypes.byref(local), one, ctypes.byref(remote), one, ctypes.c_ulong(0))))


def may_read(pid: int) -> bool:
    """Whether the system lets this process read that one's memory: at address 0 there is nothing, and that is said."""
    byte = ctypes.create_string_buffer(1)
    try:
        return read_memory(pid, 0, ctypes.addressof(byte), 1) > 0
    except OSError as error:
        return error.errno == errno.EFAULT
