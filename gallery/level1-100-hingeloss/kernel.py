# Exported by Kernwright 0.1.0: node 6 of run 20261122-level1-100-hingeloss-5241, by Claude (Anthropic).
# problem: level1_100_HingeLoss (92ef5894020fb4a25a56e135f330b815)
# verdict: verified
# speedup: 1.020x [1.013, 1.027], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: input 1 stays as it was drawn: its numbers are whole, or of a few kinds
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 3c8f221b39472e563ff0d07f66fb3db4ded8dd9bc17cb93de4b1049a6c9cc36f
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Triton: as 05, and the program that comes last adds up what all have left: one launch, a counter put back.

Parts are few (2048 rows' worth of stretches); a second launch costs two to three microseconds of 970.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"WIDE": [2048, 4096], "TALL": [32, 64], "DEEP": [8, 16]}
WIDE = 2048
TALL = 32
DEEP = 8


@triton.jit
def hinge(
    x, targets, parts, ticket, out, columns, whole, wide: tl.constexpr, tall: tl.constexpr, deep: tl.constexpr,
    block: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * wide + tl.arange(0, wide)
    t = tl.load(targets + at)
    place = x + tl.program_id(1).to(tl.int64) * tall * columns + at
    total = tl.zeros([wide], tl.float32)
    for _ in range(0, tall, deep):
        for i in tl.static_range(deep):
            v = 1.0 - tl.load(place + i * columns) * t
            total += tl.where(v <= 0.0, 0.0, v)
        place += deep * columns
    tl.store(parts + tl.program_id(1) * tl.num_programs(0) + tl.program_id(0), tl.sum(total, 0))
    tl.debug_barrier()
    count = tl.num_programs(0) * tl.num_programs(1)
    if tl.atomic_add(ticket, 1, sem="acq_rel") == count - 1:
        lane = tl.arange(0, block)
        some = tl.zeros([block], tl.float32)
        for first in range(0, count, block):
            some += tl.load(parts + first + lane, mask=first + lane < count, other=0.0, cache_modifier=".cg")
        tl.store(out, tl.sum(some, 0) / whole)
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
    """mean(max(1 - predictions * targets, 0)), a target for each column."""

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        rows, columns = predictions.shape
        if targets.shape != (columns,) or columns % WIDE or rows % TALL or rows // TALL > 65535:
            return torch.mean(torch.clamp(1 - predictions * targets, min=0))
        predictions, targets = predictions.contiguous(), targets.contiguous()
        out = torch.empty((), dtype=torch.float32, device=predictions.device)
        grid = (columns // WIDE, rows // TALL)
        parts = torch.empty(grid[0] * grid[1], dtype=torch.float32, device=predictions.device)
        hinge[grid](
            predictions, targets, parts, ticket_of(predictions), out, columns, float(rows * columns), wide=WIDE,
            tall=TALL, deep=DEEP, block=2048, num_warps=8,
        )  # fmt: skip
        return out
