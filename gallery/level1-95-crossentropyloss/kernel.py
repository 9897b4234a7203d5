# Exported by Kernwright 0.1.0: node 7 of run 20261122-level1-95-crossentropyloss-55e2, by Claude (Anthropic).
# problem: level1_95_CrossEntropyLoss (ec147ee4c2c5134bd2eb202666a55e4c)
# verdict: verified
# speedup: 2.088x [2.082, 2.095], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# note: drift: the baseline's own times changed by -0.3% over a race
# evidence: kernel.bundle.json, bundle 213d84c5940ccd63134fc8eeeecb2077109aa625c5aea988b0d4a1daa828c21b
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Triton: 06 with the mean as a dependent launch, which is resident when the last rows end.

The first kernel lets the second start at once; a single program waits beside it, so that only its sums remain.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"ROWS": [2, 4, 1], "WARPS": [8, 4, 16], "PDL": [True, False]}
ROWS = 2
WARPS = 8
PDL = True


@triton.jit
def losses(x, targets, out, classes, tall: tl.constexpr, wide: tl.constexpr, exact: tl.constexpr, pdl: tl.constexpr):
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
    row = tl.program_id(0) * tall + tl.arange(0, tall)
    at = tl.arange(0, wide)
    target = tl.load(targets + row)
    counts = target != -100
    place = x + row.to(tl.int64)[:, None] * classes + at[None, :]
    v = tl.load(place, mask=(at < classes)[None, :] | exact, other=float("-inf"))
    picked = tl.load(x + row.to(tl.int64) * classes + target, mask=counts, other=0.0)
    top = tl.max(v, 1)
    loss = tl.log(tl.sum(tl.exp(v - top[:, None]), 1)) - (picked - top)
    tl.store(out + 2 * tl.program_id(0), tl.sum(tl.where(counts, loss, 0.0), 0))
    tl.store(out + 2 * tl.program_id(0) + 1, tl.sum(tl.where(counts, 1.0, 0.0), 0))


@triton.jit
def mean(parts, out, count, block: tl.constexpr, pdl: tl.constexpr):
    if pdl:
        tl.extra.cuda.gdc_wait()
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
        if wide > 16384 or rows % ROWS or targets.dtype != torch.int64:
            return torch.nn.functional.cross_entropy(predictions, targets)
        programs = rows // ROWS
        predictions, targets = predictions.contiguous(), targets.contiguous()
        parts = torch.empty((programs, 2), dtype=torch.float32, device=predictions.device)
        out = torch.empty((), dtype=torch.float32, device=predictions.device)
        more = {"launch_pdl": True} if PDL else {}
        losses[(programs,)](
            predictions, targets, parts, classes, tall=ROWS, wide=wide, exact=wide == classes, pdl=PDL, num_warps=WARPS
        )
        mean[(1,)](parts, out, programs, block=4096, pdl=PDL, num_warps=16, **more)
        return out
