"""Two launches; the first adds up distances from a number of the part and their squares: two operations a number.

01 keeps a running mean, a division a step and four operations a number. Taken from there, sums do not
cancel for rows that are far from zero but narrow. The second launch: eight rows a program, plain accesses.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"SPAN": [32768, 16384], "BLOCK": [512, 1024], "MOST": [8, 16, 4], "WARPS": [8, 4], "PDL": [True, False]}
SPAN = 32768
BLOCK = 512
MOST = 8
WARPS = 8
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
    total = tl.zeros([block], tl.float32)
    square = tl.zeros([block], tl.float32)
    origin = tl.load(x + start)  # any number of the part
    for first in tl.range(0, span, block):
        v = tl.load(x + start + first + at) - origin
        total += v
        square += v * v
    apart = tl.sum(total, 0) / span
    tl.store(means + row * parts + part, origin + apart)
    tl.store(squares + row * parts + part, tl.maximum(tl.sum(square, 0) - span * apart * apart, 0.0))


@triton.jit
def normalise(
    x, weight, bias, y, means, squares, rows, columns, parts, eps, span: tl.constexpr, most: tl.constexpr,
    wide: tl.constexpr, block: tl.constexpr, pdl: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * most + tl.arange(0, most)
    at = (tl.num_programs(1) - 1 - tl.program_id(1)) * block + tl.arange(0, block)
    here = (row < rows)[:, None]
    place = row.to(tl.int64)[:, None] * columns + at[None, :]
    v = tl.load(x + place, mask=here, other=0.0)
    w = tl.load(weight + at)
    b = tl.load(bias + at)
    if pdl:
        tl.extra.cuda.gdc_wait()
    part = tl.arange(0, wide)
    some = here & (part < parts)[None, :]
    m = tl.load(means + row[:, None] * parts + part[None, :], mask=some, other=0.0)
    s = tl.load(squares + row[:, None] * parts + part[None, :], mask=some, other=0.0)
    mean = tl.sum(m, 1) / parts
    apart = tl.where(some, m - mean[:, None], 0.0)
    variance = tl.sum(s + span * apart * apart, 1) / columns
    scale = 1.0 / tl.sqrt_rn(variance + eps)
    tl.store(y + place, (v - mean[:, None]) * scale[:, None] * w[None, :] + b[None, :], mask=here)


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
        normalise[(triton.cdiv(rows, MOST), columns // BLOCK)](
            x, weight, bias, y, work[0], work[1], rows, columns, parts, self.ln.eps, span=SPAN, most=MOST, wide=wide,
            block=BLOCK, pdl=PDL, num_warps=WARPS, **more,
        )  # fmt: skip
        return y
