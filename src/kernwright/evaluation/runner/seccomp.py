"""A seccomp filter, assembled by hand: what no kernel needs fails with EPERM."""

import ctypes
import errno
import struct

from . import kernel

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_AND = 0x54
_NUMBER, _ARCHITECTURE, _ARGUMENT_0, _ARGUMENT_1 = 0, 4, 16, 24
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
_NAMESPACE_FLAGS = 0x7E020000
_MODE_FILTER = 2

# name: (x86_64, aarch64); 9999 where that architecture lacks it
_DENIED: dict[str, tuple[int, int]] = {
    # into other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "move_pages": (279, 239), "migrate_pages": (256, 238),
    # the kernel's larger doors
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "fanotify_init": (300, 262), "syslog": (103, 116), "quotactl": (179, 60),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "modify_ldt": (154, 9999),
    "iopl": (172, 9999), "ioperm": (173, 9999), "acct": (163, 89), "vhangup": (153, 58),
    # the machine
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142),
    "sethostname": (170, 161), "setdomainname": (171, 162), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    # mounts and namespaces
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "setns": (308, 268),
    "unshare": (272, 97), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    # memory that no process's resident size shows
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "shmat": (30, 196),
    "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    # cores are pinned for it, and threads of a lower priority would seem to be at work where others are
    "sched_setaffinity": (203, 122), "setpriority": (141, 140), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "sched_setattr": (314, 274),
}  # fmt: skip
_SOCKETS = {"socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201)}
_PROGRAMS = {"execve": (59, 221), "execveat": (322, 281)}
_SIGNALS = {
    "kill": (62, 129), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
}  # fmt: skip
_THREAD_SIGNALS = {"tkill": (200, 130), "pidfd_send_signal": (424, 424)}
_SOCKETPAIR = (53, 199)
_TYPE_MASK, _STREAM, _SEQUENCED = 0xF, 1, 5
_UNIX = 1
_FAMILIES = (_UNIX, 2, 10)
"""Unix and internet sockets: what stays inside a network namespace."""
_CLONE, _CLONE3 = (56, 220), (435, 435)


def confine(
    *, network: bool, execute: bool, signal_only: int | None, unix_sockets: bool = False, loopback: bool = False
) -> None:
    """Install the filter on this thread and what it starts, for good. Needs `no_new_privs`.

    `signal_only`: the one process id that signals may go to, for where no namespace hides the others.
    `unix_sockets`: stream sockets of the machine's own may be made and listened on, though never connected; the
    driver of a GPU does not start without one.
    `loopback`: in a network namespace that holds nothing else, sockets that cannot leave it.

    Raises:
        OSError: the kernel or this architecture has no such filter.
    """
    if kernel.MACHINE not in _ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no system-call table for {kernel.MACHINE}")
    program = assemble(
        kernel.MACHINE,
        network=network,
        execute=execute,
        signal_only=signal_only,
        unix_sockets=unix_sockets,
        loopback=loopback,
    )
    code = ctypes.create_string_buffer(program, len(program))
    pointer = ctypes.addressof(code)
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, pointer))
    kernel.prctl("seccomp", kernel.PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(header))


def assemble(
    machine: str,
    *,
    network: bool,
    execute: bool,
    signal_only: int | None,
    unix_sockets: bool = False,
    loopback: bool = False,
) -> bytes:
    """The filter as `struct sock_filter[]`."""
    column = 0 if machine == "x86_64" else 1
    denied = dict(_DENIED)
    if not (network or loopback):
        denied |= {"connect": _SOCKETS["connect"]} if unix_sockets else _SOCKETS
    if not execute:
        denied |= _PROGRAMS
    if signal_only is not None:
        denied |= _THREAD_SIGNALS
    refuse = _op(_RETURN, _ERRNO | errno.EPERM)
    code = [_op(_LOAD, _ARCHITECTURE), _op(_JUMP_EQUAL, _ARCHITECTURES[machine], 1, 0), refuse, _op(_LOAD, _NUMBER)]
    if machine == "x86_64":
        code += [_op(_JUMP_AT_LEAST, _X32, 0, 1), refuse]
    # The C library falls back to clone(2), whose flags a filter can read.
    code += [_op(_JUMP_EQUAL, _CLONE3[column], 0, 1), _op(_RETURN, _ERRNO | errno.ENOSYS)]
    for numbers in denied.values():
        code += [_op(_JUMP_EQUAL, numbers[column], 0, 1), refuse]
    allow = _op(_RETURN, _ALLOW)
    code += [_op(_JUMP_EQUAL, _CLONE[column], 0, 4), _op(_LOAD, _ARGUMENT_0)]
    code += [_op(_JUMP_SET, _NAMESPACE_FLAGS, 0, 1), refuse, allow]
    if not network:  # a datagram socket, even one of a pair, can be sent to any address
        code += [_op(_JUMP_EQUAL, _SOCKETPAIR[column], 0, 6), *_streams_only(refuse, allow)]
        if loopback:
            code += [_op(_JUMP_EQUAL, _SOCKETS["socket"][column], 0, len(_FAMILIES) + 3), _op(_LOAD, _ARGUMENT_0)]
            code += [_op(_JUMP_EQUAL, family, len(_FAMILIES) - i, 0) for i, family in enumerate(_FAMILIES)]
            code += [refuse, allow]
        elif unix_sockets:
            code += [_op(_JUMP_EQUAL, _SOCKETS["socket"][column], 0, 9), _op(_LOAD, _ARGUMENT_0)]
            code += [_op(_JUMP_EQUAL, _UNIX, 1, 0), refuse, *_streams_only(refuse, allow)]
    if signal_only is not None:
        for numbers in _SIGNALS.values():
            code += [_op(_JUMP_EQUAL, numbers[column], 0, 4), _op(_LOAD, _ARGUMENT_0)]
            code += [_op(_JUMP_EQUAL, signal_only, 1, 0), refuse, allow]
    return b"".join([*code, allow])


def _streams_only(refuse: bytes, allow: bytes) -> list[bytes]:
    """Six instructions: by the type of a socket, in the second argument."""
    kinds = [_op(_JUMP_EQUAL, _STREAM, 2, 0), _op(_JUMP_EQUAL, _SEQUENCED, 1, 0)]
    return [_op(_LOAD, _ARGUMENT_1), _op(_AND, _TYPE_MASK), *kinds, refuse, allow]


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value & 0xFFFFFFFF)
