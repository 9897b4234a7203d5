"""Triton: rows side by side in a tile as in 06, and one launch: the program that comes last takes the mean.

The second launch of 06 costs two to three microseconds of 136. The last one is known by a counter, which it puts back.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"ROWS": [2, 4, 1], "WARPS": [8, 4, 16]}
ROWS = 2
WARPS = 8


@triton.jit
def losses(
    x, targets, parts, ticket, out, classes, tall: tl.constexpr, wide: tl.constexpr, exact: tl.constexpr,
    block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * tall + tl.arange(0, tall)
    at = tl.arange(0, wide)
    target = tl.load(targets + row)
    counts = target != -100
    place = x + row.to(tl.int64)[:, None] * classes + at[None, :]
    v = tl.load(place, mask=(at < classes)[None, :] | exact, other=float("-inf"))
    picked = tl.load(x + row.to(tl.int64) * classes + target, mask=counts, other=0.0)
    top = tl.max(v, 1)
    loss = tl.log(tl.sum(tl.exp(v - top[:, None]), 1)) - (picked - top)
    number = tl.program_id(0)
    tl.store(parts + 2 * number, tl.sum(tl.where(counts, loss, 0.0), 0))
    tl.store(parts + 2 * number + 1, tl.sum(tl.where(counts, 1.0, 0.0), 0))
    tl.debug_barrier()
    count = tl.num_programs(0)
    if tl.atomic_add(ticket, 1, sem="acq_rel") == count - 1:
        lane = tl.arange(0, block)
        total = tl.zeros([block], tl.float32)
        counted = tl.zeros([block], tl.float32)
        for first in range(0, count, block):
            inside = first + lane < count
            total += tl.load(parts + 2 * (first + lane), mask=inside, other=0.0, cache_modifier=".cg")
            counted += tl.load(parts + 2 * (first + lane) + 1, mask=inside, other=0.0, cache_modifier=".cg")
        tl.store(out, tl.sum(total, 0) / tl.sum(counted, 0))
        tl.atomic_xchg(ticket, 0)


_TICKETS: dict[torch.device, torch.Tensor] = {}


def ticket_of(x: torch.Tensor) -> torch.Tensor:
    """A counter that every launch leaves at 0; of its own for a stand-in of a tensor, as a build uses."""
    if type(x) is not torch.Tensor:
        return torch.zeros(1, dtype=torch.int32, device=x.device)
    if x.device not in _TICKETS:
        _TICKETS[x.device] = torch.zeros(1, dtype=torch.int32, device=x.device)
    return _TICKETS[x.device]


class ModelNew(torch.nn.Module):
    """Mean cross entropy of rows of logits and their classes."""

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        rows, classes = predictions.shape
        wide = triton.next_power_of_2(classes)
        if wide > 16384 or rows % ROWS or targets.dtype != torch.int64:
            return torch.nn.functional.cross_entropy(predictions, targets)
        programs = rows // ROWS
        predictions, targets = predictions.contiguous(), targets.contiguous()
        parts = torch.empty((programs, 2), dtype=torch.float32, device=predictions.device)
        out = torch.empty((), dtype=torch.float32, device=predictions.device)
        losses[(programs,)](
            predictions, targets, parts, ticket_of(predictions), out, classes, tall=ROWS, wide=wide,
            exact=wide == classes, block=2048, num_warps=WARPS,
        )  # fmt: skip
        return out
