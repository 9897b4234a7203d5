"""The library makes the matrices; product, GELU, residual, RMSNorm and scale are one kernel over token tiles.

Everything behind the matrices stays in registers and in float32.
"""

import torch
import triton
import triton.language as tl

TOKENS = 64
NUM_WARPS = 4
KNOBS = {"TOKENS": [16, 32, 64, 128], "NUM_WARPS": [2, 4, 8]}


@triton.jit
def transform(
    sequence, own, scale, out, tokens, width: tl.constexpr, epsilon: tl.constexpr, rows: tl.constexpr,
    block: tl.constexpr,
):  # fmt: skip
    sample = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * rows + tl.arange(0, rows)
    column = tl.arange(0, block)
    live = column < width
    at = sample * (tokens * width) + row[:, None] * width + column[None, :]
    inside = (row < tokens)[:, None] & live[None, :]
    value = tl.load(sequence + at, mask=inside, other=0.0)
    matrix = tl.load(
        own + sample * (width * width) + column[:, None] * width + column[None, :],
        mask=live[:, None] & live[None, :],
        other=0.0,
    )
    mixed = tl.dot(value, matrix)
    mixed = value.to(tl.float32) + 0.5 * mixed * (1.0 + tl.erf(mixed * 0.7071067811865476))
    inverse = tl.rsqrt(tl.sum(mixed * mixed, 1) / width + epsilon)
    factor = tl.load(scale + column, mask=live, other=0.0).to(tl.float32)
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
        rows = min(TOKENS, max(16, triton.next_power_of_2(tokens)))
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
            num_warps=NUM_WARPS,
        )
        return out
