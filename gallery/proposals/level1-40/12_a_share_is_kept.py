"""Two launches; the first tells L2 which tenth or fifth of x to keep, and the second finds just that there.

Otherwise L2 keeps whatever came last, and lines of x push each other out: the second sweep then misses even what it
could have had. KEPT of 16 parts of each row are read with evict_last, the others with evict_first; the second sweep
takes the kept parts first.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"KEPT": [2, 1, 3], "BLOCK": [1024, 512, 2048], "MOST": [4, 8, 16], "WARPS": [8, 4], "PDL": [True, False]}
KEPT = 2
SPAN = 32768
BLOCK = 1024
MOST = 4
WARPS = 8
LOOK = 4096
PDL = True


@triton.jit
def statistics(
    x, means, squares, rows, columns, parts, span: tl.constexpr, block: tl.constexpr, pdl: tl.constexpr,
    kept: tl.constexpr,
):  # fmt: skip
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
    part = tl.program_id(0) // rows
    row = tl.program_id(0) % rows
    start = row.to(tl.int64) * columns + part * span
    at = tl.arange(0, block)
    mean = tl.zeros([block], tl.float32)
    square = tl.zeros([block], tl.float32)
    count = 0.0
    keep = part * 16 < parts * kept
    for first in tl.range(0, span, block):
        if keep:
            v = tl.load(x + start + first + at, eviction_policy="evict_last")
        else:
            v = tl.load(x + start + first + at, eviction_policy="evict_first")
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
def normalise(
    x, weight, bias, y, means, squares, rows, columns, parts, eps, span: tl.constexpr, most: tl.constexpr,
    wide: tl.constexpr, block: tl.constexpr, pdl: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(1) * block + tl.arange(0, block)  # what is kept lies at the front
    w = tl.load(weight + at)
    b = tl.load(bias + at)
    if pdl:
        tl.extra.cuda.gdc_wait()
    for i in tl.static_range(most):
        row = tl.program_id(0) * most + i
        if row < rows:
            place = row.to(tl.int64) * columns + at
            v = tl.load(x + place, eviction_policy="evict_first")
            mean, scale = of_row(means, squares, row, parts, columns, eps, span, wide)
            tl.store(y + place, (v - mean) * scale * w + b)


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
            x, work[0], work[1], rows, columns, parts, span=SPAN, block=LOOK, pdl=PDL, kept=KEPT,
            num_warps=8, num_stages=4,
        )  # fmt: skip
        more = {"launch_pdl": True} if PDL else {}
        normalise[(triton.cdiv(rows, MOST), columns // BLOCK)](
            x, weight, bias, y, work[0], work[1], rows, columns, parts, self.ln.eps, span=SPAN, most=MOST, wide=wide,
            block=BLOCK, pdl=PDL, num_warps=WARPS, **more,
        )  # fmt: skip
        return y
