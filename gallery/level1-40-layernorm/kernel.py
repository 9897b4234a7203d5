# Exported by Kernwright 0.1.0: node 8 of run 20261122-level1-40-layernorm-5df5, by Claude (Anthropic).
# problem: level1_40_LayerNorm (be6e04b642dbd6e58e7703fb5ca576aa)
# verdict: verified
# speedup: 1.526x [1.523, 1.529], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 65737163d3808179b90b44313f6a63856335068a2bc95cfb54ae87d6c1156c2a
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Two launches; the second keeps a stretch of weights in registers and walks down the rows, copied ahead.

01 has sixteen rows of 512 columns in one tile: all loads, then all stores. Here the compiler's pipeline has STAGES rows
under way while one is written, so that reading and writing mix as in a copy; weights are read once.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"SPAN": [32768, 16384], "BLOCK": [1024, 2048, 512], "WARPS": [4, 8], "STAGES": [4, 3, 6], "PDL": [True, False]}
SPAN = 32768
BLOCK = 1024
WARPS = 4
STAGES = 4
LOOK = 4096
PDL = True


@triton.jit
def statistics(x, means, squares, rows, columns, parts, span: tl.constexpr, block: tl.constexpr, pdl: tl.constexpr):
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
    part = tl.program_id(0) // rows
    row = tl.program_id(0) % rows
    start = row.to(tl.int64) * columns + part * span
    at = tl.arange(0, block)
    mean = tl.zeros([block], tl.float32)
    square = tl.zeros([block], tl.float32)
    count = 0.0
    for first in tl.range(0, span, block):
        v = tl.load(x + start + first + at)
        count += 1.0
        apart = v - mean
        mean += apart * (1.0 / count)
        square += apart * (v - mean)
    middle = tl.sum(mean, 0) / block
    apart = mean - middle
    tl.store(means + row * parts + part, middle)
    tl.store(squares + row * parts + part, tl.sum(square + count * apart * apart, 0))


@triton.jit
def of_row(means, squares, row, parts, columns, eps, span: tl.constexpr, wide: tl.constexpr):
    """Mean and scale of a row."""
    part = tl.arange(0, wide)
    m = tl.load(means + row * parts + part, mask=part < parts, other=0.0)
    s = tl.load(squares + row * parts + part, mask=part < parts, other=0.0)
    mean = tl.sum(m, 0) / parts
    apart = tl.where(part < parts, m - mean, 0.0)
    variance = tl.sum(s + span * apart * apart, 0) / columns
    return mean, 1.0 / tl.sqrt_rn(variance + eps)


@triton.jit
def finish(means, squares, done, parts, columns, eps, span: tl.constexpr, wide: tl.constexpr, pdl: tl.constexpr):
    """A row's mean and scale, once for all."""
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    mean, scale = of_row(means, squares, tl.program_id(0), parts, columns, eps, span, wide)
    tl.store(done + 2 * tl.program_id(0), mean)
    tl.store(done + 2 * tl.program_id(0) + 1, scale)


@triton.jit
def normalise(x, weight, bias, y, done, rows, columns, block: tl.constexpr, stages: tl.constexpr, pdl: tl.constexpr):
    at = (tl.num_programs(0) - 1 - tl.program_id(0)).to(tl.int64) * block + tl.arange(0, block)
    w = tl.load(weight + at)
    b = tl.load(bias + at)
    if pdl:
        tl.extra.cuda.gdc_wait()
    pitch = tl.zeros([block], tl.int64) + columns
    for row in tl.range(0, rows, num_stages=stages):
        v = tl.load(x + row * pitch + at)
        mean = tl.load(done + 2 * row)
        scale = tl.load(done + 2 * row + 1)
        tl.store(y + row * pitch + at, (v - mean) * scale * w + b)


class ModelNew(torch.nn.Module):
    """torch.nn.LayerNorm over long rows."""

    def __init__(self, normalized_shape: tuple) -> None:
        super().__init__()
        self.ln = torch.nn.LayerNorm(normalized_shape=normalized_shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight, bias = self.ln.weight, self.ln.bias
        columns = weight.numel()
        parts = columns // SPAN
        if columns % SPAN or parts > 1024 or columns % BLOCK:
            return self.ln(x)
        x = x.contiguous()
        rows = x.numel() // columns
        y = torch.empty_like(x)
        work = torch.empty((2, rows, parts), dtype=torch.float32, device=x.device)
        wide = triton.next_power_of_2(parts)
        statistics[(rows * parts,)](
            x, work[0], work[1], rows, columns, parts, span=SPAN, block=LOOK, pdl=PDL, num_warps=8, num_stages=4
        )
        more = {"launch_pdl": True} if PDL else {}
        done = torch.empty((rows, 2), dtype=torch.float32, device=x.device)
        finish[(rows,)](
            work[0], work[1], done, parts, columns, self.ln.eps, span=SPAN, wide=wide, pdl=PDL, num_warps=4, **more
        )
        normalise[(columns // BLOCK,)](
            x, weight, bias, y, done, rows, columns, block=BLOCK, stages=STAGES, pdl=PDL, num_warps=WARPS, **more
        )
        return y
