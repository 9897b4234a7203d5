# Exported by Kernwright 0.1.0: node 5 of run 20261122-level1-95-crossentropyloss-55e2, by Claude (Anthropic).
# problem: level1_95_CrossEntropyLoss (ec147ee4c2c5134bd2eb202666a55e4c)
# verdict: verified
# speedup: 2.055x [2.052, 2.058], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 249e5e641cdb6660de1d7bc7d282863afe12d1281770bcec3631cbce8a277153
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Triton: rows side by side in one tile, reduced together, plain loads; a small launch takes the mean.

As 01, whose rows came one after the other: here one tree of shuffles serves ROWS rows, and all their loads are
issued first.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"ROWS": [2, 4, 1], "WARPS": [8, 4, 16]}
ROWS = 2
WARPS = 8
IGNORED = -100


@triton.jit
def losses(x, targets, out, classes, tall: tl.constexpr, wide: tl.constexpr, exact: tl.constexpr):
    row = tl.program_id(0) * tall + tl.arange(0, tall)
    at = tl.arange(0, wide)
    place = x + row.to(tl.int64)[:, None] * classes + at[None, :]
    target = tl.load(targets + row)
    counts = target != -100
    v = tl.load(place, mask=(at < classes)[None, :] | exact, other=float("-inf"))
    picked = tl.load(x + row.to(tl.int64) * classes + target, mask=counts, other=0.0)
    top = tl.max(v, 1)
    loss = tl.log(tl.sum(tl.exp(v - top[:, None]), 1)) - (picked - top)
    tl.store(out + 2 * tl.program_id(0), tl.sum(tl.where(counts, loss, 0.0), 0))
    tl.store(out + 2 * tl.program_id(0) + 1, tl.sum(tl.where(counts, 1.0, 0.0), 0))


@triton.jit
def mean(parts, out, count, block: tl.constexpr):
    at = tl.arange(0, block)
    total = tl.zeros([block], tl.float32)
    counted = tl.zeros([block], tl.float32)
    first = 0
    while first < count:
        inside = first + at < count
        total += tl.load(parts + 2 * (first + at), mask=inside, other=0.0)
        counted += tl.load(parts + 2 * (first + at) + 1, mask=inside, other=0.0)
        first += block
    tl.store(out, tl.sum(total, 0) / tl.sum(counted, 0))


class ModelNew(torch.nn.Module):
    """Mean cross entropy of rows of logits and their classes."""

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        rows, classes = predictions.shape
        wide = triton.next_power_of_2(classes)
        if wide > 16384 or rows % ROWS:
            return torch.nn.functional.cross_entropy(predictions, targets)
        programs = rows // ROWS
        parts = torch.empty((programs, 2), dtype=torch.float32, device=predictions.device)
        out = torch.empty((), dtype=torch.float32, device=predictions.device)
        losses[(programs,)](
            predictions.contiguous(),
            targets.contiguous(),
            parts,
            classes,
            tall=ROWS,
            wide=wide,
            exact=wide == classes,
            num_warps=WARPS,
        )
        mean[(1,)](parts, out, programs, block=4096, num_warps=16)
        return out
