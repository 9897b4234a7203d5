# Exported by Kernwright 0.1.0: node 4 of run 20261122-level1-100-hingeloss-5241, by Claude (Anthropic).
# problem: level1_100_HingeLoss (92ef5894020fb4a25a56e135f330b815)
# verdict: verified
# speedup: 1.016x [1.001, 1.031], 95 % interval, against torch.compile
# threads: 1; cache: cold
# It is not shown to be faster than the baseline.
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: input 1 stays as it was drawn: its numbers are whole, or of a few kinds
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 7e3bd7e143428693e33304d0b95bf23230307b39f615ff82433b405d6ac4f8b8
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Triton: short stretches of rows in the order of memory, as what was best for sums (level1-47/07); then the mean.

Programs are numbered along the columns first, so that those that run together read what lies together; a program's
few rows are all asked for at once.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"WIDE": [1024, 2048, 512], "TALL": [16, 8, 32], "PDL": [True, False]}
WIDE = 1024
TALL = 16
PDL = True


@triton.jit
def hinge(x, targets, parts, columns, wide: tl.constexpr, tall: tl.constexpr, pdl: tl.constexpr):
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
    at = tl.program_id(0) * wide + tl.arange(0, wide)
    t = tl.load(targets + at)
    place = x + tl.program_id(1).to(tl.int64) * tall * columns + at
    total = tl.zeros([wide], tl.float32)
    for i in tl.static_range(tall):
        v = 1.0 - tl.load(place + i * columns) * t
        total += tl.where(v <= 0.0, 0.0, v)
    tl.store(parts + tl.program_id(1) * tl.num_programs(0) + tl.program_id(0), tl.sum(total, 0))


@triton.jit
def mean(parts, out, count, whole, block: tl.constexpr, pdl: tl.constexpr):
    if pdl:
        tl.extra.cuda.gdc_wait()
    at = tl.arange(0, block)
    total = tl.zeros([block], tl.float32)
    first = 0
    while first < count:
        total += tl.load(parts + first + at, mask=first + at < count, other=0.0)
        first += block
    tl.store(out, tl.sum(total, 0) / whole)


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
        hinge[grid](predictions, targets, parts, columns, wide=WIDE, tall=TALL, pdl=PDL, num_warps=4)
        more = {"launch_pdl": True} if PDL else {}
        mean[(1,)](parts, out, parts.numel(), float(rows * columns), block=4096, pdl=PDL, num_warps=16, **more)
        return out
