# Exported by Kernwright 0.1.0: node 8 of run 20261122-interformer-pffn-5ab8, by Claude (Anthropic).
# problem: interformer_pffn (45956496d92101b0ac7176969301beab)
# verdict: verified
# speedup: 1.582x [1.539, 1.626], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H100 80GB HBM3/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: the module ran in eval() mode
# evidence: kernel.bundle.json, bundle ce69a824614381b5553ea1962ddc4eed0ab8b0005d34e994e7235f3e6091414c
# workload: batch_64 {'batch': 64, 'tokens': 128, 'width': 64, 'summary': 256}
# workload: batch_256 {'batch': 256, 'tokens': 128, 'width': 64, 'summary': 256}
# workload: batch_1024 {'batch': 1024, 'tokens': 128, 'width': 64, 'summary': 256}
# use: from this file import ModelNew, in the place of Model

"""As 07 with a whole sample a program (128 tokens, eight warps): its matrix is read once, its 16 KB in one go.

04 has two programs a sample; half as many programs, each with twice as much under way. Tokens leave L2 first, results
stay; matrices were just written and are read once more.
"""

import torch
import triton
import triton.language as tl

TOKENS = 128
NUM_WARPS = 8
PDL = True
KNOBS = {"TOKENS": [32, 64, 128], "NUM_WARPS": [2, 4, 8], "PDL": [True, False]}


@triton.jit
def make_matrices(
    summary, weight, own, batch, outputs, length: tl.constexpr,
    samples: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr, stages: tl.constexpr, pdl: tl.constexpr,
):  # fmt: skip
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
    column = tl.program_id(0) * columns + tl.arange(0, columns)
    sample = tl.program_id(1) * samples + tl.arange(0, samples)
    total = tl.zeros([samples, columns], tl.float32)
    for start in tl.range(0, length, depth, num_stages=stages):
        number = start + tl.arange(0, depth)
        left = tl.load(
            summary + sample[:, None] * length + number[None, :],
            mask=(sample < batch)[:, None] & (number < length)[None, :],
            other=0.0,
        )
        right = tl.load(
            weight + column[None, :] * length + number[:, None],
            mask=(column < outputs)[None, :] & (number < length)[:, None],
            other=0.0,
        )
        total = tl.dot(left, right, total)
    at = sample.to(tl.int64)[:, None] * outputs + column[None, :]
    inside = (sample < batch)[:, None] & (column < outputs)[None, :]
    tl.store(own + at, total.to(own.dtype.element_ty), mask=inside)


@triton.jit
def gelu(x):
    """x times the normal distribution, as a logistic function of an odd polynomial: off by 2.5e-5 at most."""
    square = tl.minimum(x * x, 36.0)
    odd = x * ((-0.0007031893 * square + 0.0740120155) * square + 1.5950151438)
    return x / (1.0 + tl.exp2(odd * -1.4426950408889634))


@triton.jit
def transform(
    sequence, own, scale, out, tokens, width: tl.constexpr, epsilon: tl.constexpr, rows: tl.constexpr,
    block: tl.constexpr, pdl: tl.constexpr,
):  # fmt: skip
    sample = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * rows + tl.arange(0, rows)
    column = tl.arange(0, block)
    live = column < width
    at = sample * (tokens * width) + row[:, None] * width + column[None, :]
    inside = (row < tokens)[:, None] & live[None, :]
    value = tl.load(sequence + at, mask=inside, other=0.0, eviction_policy="evict_first")
    factor = tl.load(scale + column, mask=live, other=0.0).to(tl.float32)
    if pdl:
        tl.extra.cuda.gdc_wait()
    matrix = tl.load(
        own + sample * (width * width) + column[:, None] * width + column[None, :],
        mask=live[:, None] & live[None, :],
        other=0.0,
        eviction_policy="evict_first",
    )
    mixed = value.to(tl.float32) + gelu(tl.dot(value, matrix))
    inverse = tl.rsqrt(tl.sum(mixed * mixed, 1) / width + epsilon)
    tl.store(out + at, (mixed * inverse[:, None] * factor[None, :]).to(out.dtype.element_ty), mask=inside)


class ModelNew(torch.nn.Module):
    def __init__(self, width: int, summary: int, epsilon: float = 1e-6) -> None:
        super().__init__()
        self.width = width
        self.epsilon = epsilon
        self.make = torch.nn.Linear(summary, width * width, bias=False)
        self.scale = torch.nn.Parameter(1.0 + 0.1 * torch.randn(width))

    def forward(self, summary, sequence):
        summary, sequence, weight = summary.contiguous(), sequence.contiguous(), self.make.weight.contiguous()
        batch, tokens, width = sequence.shape
        outputs, length = weight.shape
        own = sequence.new_empty(batch, outputs)
        out = torch.empty_like(sequence)
        samples, columns, warps = (64, 32, 4) if batch <= 64 else (64, 64, 4) if batch <= 512 else (128, 128, 8)
        make_matrices[(triton.cdiv(outputs, columns), triton.cdiv(batch, samples))](
            summary,
            weight,
            own,
            batch,
            outputs,
            length=length,
            samples=samples,
            columns=columns,
            depth=64,
            stages=4,
            pdl=PDL,
            num_warps=warps,
        )
        rows = min(TOKENS, max(16, triton.next_power_of_2(tokens)))
        more = {"launch_pdl": True} if PDL else {}
        transform[(batch, triton.cdiv(tokens, rows))](
            sequence,
            own,
            self.scale,
            out,
            tokens,
            width=width,
            epsilon=self.epsilon,
            rows=rows,
            block=max(16, triton.next_power_of_2(width)),
            pdl=PDL,
            num_warps=NUM_WARPS,
            **more,
        )
        return out
