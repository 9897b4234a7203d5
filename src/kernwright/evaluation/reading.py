"""Results where they lie: the judge copies them out of a runner's memory, so that no copy is the runner's work.

A runner that delivers its results itself has as long for that as a copy takes, and may compute in that time.
"""

import ctypes
import errno
from collections.abc import Mapping
from typing import Any

import torch

_LIBC = ctypes.CDLL(None, use_errno=True)
_PIECE = 1 << 30
"""A system call copies less than 2 GiB."""
MOST_BYTES = 8 << 30
"""Between the first byte of a result and its last; who returns one of a few elements far apart makes it contiguous."""


class _Stretch(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class Unreadable(Exception):
    """What a runner says of its result does not lead to one; the text says why."""


def may_read(pid: int) -> bool:
    """Whether the system lets this process read that one's memory: at address 0 there is nothing, and that is said."""
    return _copied(pid, 0, ctypes.create_string_buffer(1), 1) == -errno.EFAULT


def result_at(pid: int, said: Any, address: Any, spec: Mapping[str, Any]) -> torch.Tensor:
    """The tensor of which a runner says type, dtype, shape, strides and device, as `spec` has them, and where it lies.

    Raises:
        Unreadable: it lies nowhere, or is not what was asked for.
    """
    try:
        _, dtype, shape, strides, _ = said
        strides = [int(stride) for stride in strides]
        if (
            dtype != spec["dtype"]
            or shape != spec["shape"]
            or len(strides) != len(shape)
            or min(strides, default=0) < 0
        ):
            raise ValueError
        at = int(address)
    except (TypeError, ValueError) as error:
        raise Unreadable("what it said of its result describes none") from error
    kind = getattr(torch, spec["dtype"])
    extent = 1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True)) if 0 not in shape else 0
    if extent * kind.itemsize > MOST_BYTES:
        raise Unreadable("its result's elements lie too far apart; make it contiguous()")
    flat = torch.empty(extent, dtype=kind)
    if not 0 <= at < 1 << 63 or not _read(pid, at, flat):
        raise Unreadable("its result lies in memory that cannot be read")
    return torch.as_strided(flat, shape, strides)


def _read(pid: int, address: int, into: torch.Tensor) -> bool:
    done, whole = 0, into.numel() * into.element_size()
    while done < whole:
        length = min(_PIECE, whole - done)
        if _copied(pid, address + done, ctypes.c_void_p(into.data_ptr() + done), length) != length:
            return False
        done += length
    return True


def _copied(pid: int, address: int, into: Any, length: int) -> int:
    """Bytes that were copied, or minus the number of the error."""
    local, remote = _Stretch(ctypes.cast(into, ctypes.c_void_p), length), _Stretch(address, length)
    call = _LIBC.process_vm_readv
    call.restype = ctypes.c_ssize_t
    count = int(
        call(pid, ctypes.byref(local), ctypes.c_ulong(1), ctypes.byref(remote), ctypes.c_ulong(1), ctypes.c_ulong(0))
    )
    return count if count >= 0 else -ctypes.get_errno()
