"""How many bytes a kernel has to read: those whose change moves the output."""

import random
from functools import partial
from time import monotonic

import torch
from scipy.special import betaincinv

from kernwright.core.errors import UserError
from kernwright.core.ports import DeviceSession
from kernwright.evaluation.numbers import is_short

from .setting import Setting

SECTOR_BYTES = 32
"""What memory is read in at the least, on every device known."""
PROBES, LIMIT_S = 32, 0.5
"""Sectors of a tensor that are changed, one run of the reference each, and how long all that may take."""
SURE = 0.95


def moving_bytes(setting: Setting, rng: random.Random) -> float:
    """At least so many bytes of inputs and weights move an output when they change, as far as samples tell.

    For each tensor, the largest first, random sectors are changed; of `PROBES` of which k moved an output, the share
    that does is at least Clopper and Pearson's lower bound (Biometrika 26, 1934). What there was no time for counts as
    nothing.
    """
    base, model, reference = setting.bases[0], setting.model, setting.reference
    values = list(base.values)
    inputs = [v for v in values if isinstance(v, torch.Tensor)]
    tensors = sorted((t for t in (*inputs, *setting.state.values()) if t.numel()), key=_nbytes, reverse=True)
    total, end = 0.0, monotonic() + LIMIT_S
    native = reference.outputs(model, values)
    if _differ(native, reference.outputs(model, values)):
        return 0.0  # its last digits change by themselves
    for tensor in tensors:
        moved = tried = 0
        while tried < PROBES and monotonic() < end:
            flat = tensor.view(-1) if tensor.is_contiguous() else None
            if flat is None:
                break
            count = max(1, SECTOR_BYTES // tensor.element_size())
            start = rng.randrange(-(-flat.numel() // count)) * count
            sector = flat[start : start + count]
            before = sector.clone()
            sector.copy_(_other(flat, before, rng))
            try:
                moved += _differ(native, reference.outputs(model, values))
            except UserError:  # what the reference cannot bear moves nothing
                pass
            finally:
                sector.copy_(before)
            tried += 1
        if moved:
            total += _nbytes(tensor) * float(betaincinv(moved, tried - moved + 1, 1 - SURE))
    return total


def floor_ns(session: DeviceSession, setting: Setting, rng: random.Random) -> float | None:
    """What no kernel for this workload can beat on the device, by its datasheet; None where there is none."""
    if session.floor_ns(1, 0) is None or setting.lean:
        return None
    moving = setting.reference.known.once(setting.workload, "moving bytes", partial(moving_bytes, setting, rng))
    return session.floor_ns(moving, setting.output_bytes)


def _other(flat: torch.Tensor, sector: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Values in range that differ: larger ones of a number, others of the same tensor of an index."""
    if sector.dtype == torch.bool:
        return ~sector
    if is_short(sector):
        return torch.where(sector.float() == 1, 0.5, 1.0).to(sector.dtype)
    if sector.is_floating_point() or sector.is_complex():
        return sector + 2 * flat.abs().max() + 1
    return flat[rng.randrange(flat.numel())].clone().expand_as(sector)  # PyTorch refuses to copy a tensor onto itself


def _differ(before: list[torch.Tensor], after: list[torch.Tensor]) -> bool:
    return any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))


def _nbytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()
