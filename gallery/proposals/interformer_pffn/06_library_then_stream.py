"""The library's product, then one dependent kernel of persistent programs: next tokens and matrix on their way.

The second kernel is put on the multiprocessors as the library's ends; its programs go through the samples with the next
sample's sequence and matrix under way, so that batch 1024 is one wave of streaming. GELU as in 04_dependent_launch.
"""

import torch
import triton
import triton.language as tl

TOKENS = 64
NUM_WARPS = 4
PER_SM = 4
STAGES = 3
PDL = True
KNOBS = {"TOKENS": [64, 128], "NUM_WARPS": [4, 8], "PER_SM": [2, 3, 4], "STAGES": [1, 2, 3]}


@triton.jit
def gelu(x):
    size = tl.abs(x) * 0.7071067811865476
    t = 1.0 / (1.0 + 0.3275911 * size)
    sum = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    tail = 0.5 * sum * tl.exp2(size * size * -1.4426950408889634)  # what the normal distribution has beyond
    return tl.where(x >= 0, x - x * tail, x * tail)


@triton.jit
def transform(
    sequence, own, scale, out, batch, tokens, width: tl.constexpr, epsilon: tl.constexpr, rows: tl.constexpr,
    block: tl.constexpr, stages: tl.constexpr, pdl: tl.constexpr,
):  # fmt: skip
    column = tl.arange(0, block)
    live = column < width
    factor = tl.load(scale + column, mask=live, other=0.0).to(tl.float32)
    high = tl.cdiv(tokens, rows)
    if pdl:
        tl.extra.cuda.gdc_wait()
    for job in tl.range(tl.program_id(0), batch * high, tl.num_programs(0), num_stages=stages):
        sample = tl.cast(job // high, tl.int64)
        row = job % high * rows + tl.arange(0, rows)
        at = sample * (tokens * width) + row[:, None] * width + column[None, :]
        inside = (row < tokens)[:, None] & live[None, :]
        value = tl.load(sequence + at, mask=inside, other=0.0)
        matrix = tl.load(
            own + sample * (width * width) + column[:, None] * width + column[None, :],
            mask=live[:, None] & live[None, :],
            other=0.0,
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
        own = self.make(summary)
        sequence = sequence.contiguous()
        batch, tokens, width = sequence.shape
        out = torch.empty_like(sequence)
        rows = min(TOKENS if batch >= 256 else 32, max(16, triton.next_power_of_2(tokens)))
        more = {"launch_pdl": True} if PDL else {}
        transform[(min(batch * triton.cdiv(tokens, rows), 132 * PER_SM),)](
            sequence,
            own,
            self.scale,
            out,
            batch,
            tokens,
            width=width,
            epsilon=self.epsilon,
            rows=rows,
            block=max(16, triton.next_power_of_2(width)),
            stages=STAGES,
            pdl=PDL,
            num_warps=NUM_WARPS,
            **more,
        )
        return out
