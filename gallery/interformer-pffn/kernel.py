# Exported by Kernwright 0.1.0: node 10 of run 20261122-interformer-pffn-5ab8, by Claude (Anthropic).
# problem: interformer_pffn (45956496d92101b0ac7176969301beab)
# verdict: verified
# speedup: 1.559x [1.540, 1.579], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H100 80GB HBM3/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: the module ran in eval() mode
# evidence: kernel.bundle.json, bundle cd24c0f758e92883b563e2ad04cd9be14c9b35645062e964f5f4d96dc35c532c
# workload: batch_64 {'batch': 64, 'tokens': 128, 'width': 64, 'summary': 256}
# workload: batch_256 {'batch': 256, 'tokens': 128, 'width': 64, 'summary': 256}
# workload: batch_1024 {'batch': 1024, 'tokens': 128, 'width': 64, 'summary': 256}
# use: from this file import ModelNew, in the place of Model

"""Two dependent kernels as 07, whose operands come by the copy engine: no addresses in registers, no masks.

Matrices are made from boxes of the summaries and of the weight, a sample's tokens and its matrix are one box each.
Shapes that the engine does not take (rows of 16 bytes, widths of 16) go to the library.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

TOKENS = 64
NUM_WARPS = 4
PDL = True
KNOBS = {"TOKENS": [32, 64, 128], "NUM_WARPS": [2, 4, 8], "PDL": [True, False]}


@triton.jit
def make_matrices(
    summary, weight, own, length: tl.constexpr, samples: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr,
    stages: tl.constexpr, pdl: tl.constexpr,
):  # fmt: skip
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
    column = tl.program_id(0) * columns
    sample = tl.program_id(1) * samples
    total = tl.zeros([samples, columns], tl.float32)
    for start in tl.range(0, length, depth, num_stages=stages):
        total = tl.dot(summary.load([sample, start]), weight.load([column, start]).T, total)
    own.store([sample, column], total.to(tl.float16))


@triton.jit
def gelu(x):
    """x times the normal distribution, as a logistic function of an odd polynomial: off by 2.5e-5 at most."""
    square = tl.minimum(x * x, 36.0)
    odd = x * ((-0.0007031893 * square + 0.0740120155) * square + 1.5950151438)
    return x / (1.0 + tl.exp2(odd * -1.4426950408889634))


@triton.jit
def transform(
    sequence, own, scale, out, tokens, width: tl.constexpr, epsilon: tl.constexpr, rows: tl.constexpr,
    pdl: tl.constexpr,
):  # fmt: skip
    sample = tl.program_id(0)
    first = tl.program_id(1) * rows
    value = sequence.load([sample, first, 0]).reshape(rows, width)
    factor = tl.load(scale + tl.arange(0, width)).to(tl.float32)
    if pdl:
        tl.extra.cuda.gdc_wait()
    mixed = value.to(tl.float32) + gelu(tl.dot(value, own.load([sample * width, 0])))
    inverse = tl.rsqrt(tl.sum(mixed * mixed, 1) / width + epsilon)
    result = (mixed * inverse[:, None] * factor[None, :]).to(tl.float16)
    out.store([sample, first, 0], result.reshape(1, rows, width))


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
        fits = width in (16, 32, 64, 128) and length % 64 == 0 and sequence.dtype == torch.float16
        tensors = (summary, sequence, weight)
        if not fits or any(x.data_ptr() % 16 for x in tensors) or tokens < 1:
            mixed = sequence + torch.nn.functional.gelu(torch.bmm(sequence, self.make(summary).view(-1, width, width)))
            return mixed * torch.rsqrt(mixed.square().mean(dim=-1, keepdim=True) + self.epsilon) * self.scale
        samples, columns, warps = (64, 32, 4) if batch <= 64 else (64, 64, 4) if batch <= 512 else (128, 128, 8)
        make_matrices[(triton.cdiv(outputs, columns), triton.cdiv(batch, samples))](
            TensorDescriptor.from_tensor(summary, [samples, 64]),
            TensorDescriptor.from_tensor(weight, [columns, 64]),
            TensorDescriptor.from_tensor(own, [samples, columns]),
            length=length, samples=samples, columns=columns, depth=64, stages=4, pdl=PDL, num_warps=warps,
        )  # fmt: skip
        rows = min(TOKENS, max(16, triton.next_power_of_2(tokens)))
        more = {"launch_pdl": True} if PDL else {}
        box = [1, rows, width]
        transform[(batch, triton.cdiv(tokens, rows))](
            TensorDescriptor.from_tensor(sequence, box),
            TensorDescriptor.from_tensor(own.view(batch * width, width), [width, width]),
            self.scale,
            TensorDescriptor.from_tensor(out, box),
            tokens, width=width, epsilon=self.epsilon, rows=rows, pdl=PDL, num_warps=NUM_WARPS, **more,
        )  # fmt: skip
        return out
