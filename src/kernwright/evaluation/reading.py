"""Results where they lie: the judge copies them out of a runner's memory, so that no copy is the runner's work.

A runner that delivers its results itself has as long for that as a copy takes, and may compute in that time.
"""

from collections.abc import Mapping
from typing import Any

import torch

from .runner import kernel

_PIECE = 1 << 30
"""A system call copies less than 2 GiB."""
MOST_BYTES = 8 << 30
"""Between the first byte of a result and its last; who returns one of a few elements far apart makes it contiguous."""


class Unreadable(Exception):
    """What a runner says of its result does not lead to one; the text says why."""


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
        try:
            if kernel.read_memory(pid, address + done, into.data_ptr() + done, length) != length:
                return False
        except OSError:
            return False
        done += length
    return True
