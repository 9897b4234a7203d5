"""The library's two products, then one kernel for GELU, residual, RMSNorm and scale: a yardstick for what fusion gains.

The mixed sequence goes through memory once more than in 01 (34 MB at batch 1024, mostly from L2).
"""

import torch
import triton
import triton.language as tl

ROWS = 32
NUM_WARPS = 4
PDL = True
KNOBS = {"ROWS": [16, 32, 64, 128], "NUM_WARPS": [2, 4, 8], "PDL": [True, False]}


@triton.jit
def gelu(x):
    """x times the normal distribution, as a logistic function of an odd polynomial: off by 2.5e-5 at most."""
    square = tl.minimum(x * x, 36.0)
    odd = x * ((-0.0007031893 * square + 0.0740120155) * square + 1.5950151438)
    return x / (1.0 + tl.exp2(odd * -1.4426950408889634))


@triton.jit
def finish(
    sequence, product, scale, out, total, width: tl.constexpr, epsilon: tl.constexpr, rows: tl.constexpr,
    block: tl.constexpr, pdl: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * rows + tl.arange(0, rows)
    column = tl.arange(0, block)
    live = column < width
    at = row[:, None] * width + column[None, :]
    inside = (row < total)[:, None] & live[None, :]
    value = tl.load(sequence + at, mask=inside, other=0.0).to(tl.float32)
    factor = tl.load(scale + column, mask=live, other=0.0).to(tl.float32)
    if pdl:
        tl.extra.cuda.gdc_wait()
    mixed = value + gelu(tl.load(product + at, mask=inside, other=0.0).to(tl.float32))
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
        sequence = sequence.contiguous()
        batch, tokens, width = sequence.shape
        product = torch.bmm(sequence, self.make(summary).view(-1, width, width))
        out = torch.empty_like(sequence)
        total = batch * tokens
        more = {"launch_pdl": True} if PDL else {}
        finish[(triton.cdiv(total, ROWS),)](
            sequence, product, self.scale, out, total, width=width, epsilon=self.epsilon, rows=ROWS,
            block=max(16, triton.next_power_of_2(width)), pdl=PDL, num_warps=NUM_WARPS, **more,
        )  # fmt: skip
        return out
