"""A launch a row: it looks at row r and normalises row r - 1, which L2 still has; x is read from memory once.

Seventeen launches of 8 to 10 microseconds, each dependent on the one before, so that none waits for a launch; weights
and bias (34 MB) and two rows (34 MB) are more than L2 holds, so some of the weights come from memory again.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"SPAN": [16384, 8192, 32768], "BLOCK": [2048, 1024, 4096], "WARPS": [8, 4], "PDL": [True, False]}
SPAN = 16384
BLOCK = 2048
WARPS = 8
LOOK = 2048
PDL = True


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


@triton.jit(do_not_specialize=["row"])
def step(
    x, weight, bias, y, means, squares, row, rows, columns, parts, eps, span: tl.constexpr, look: tl.constexpr,
    wide: tl.constexpr, block: tl.constexpr, pdl: tl.constexpr,
):  # fmt: skip
    """Programs up to `parts` look at parts of `row`, all others normalise stretches of the row before."""
    number = tl.program_id(0)
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
    if number < parts:
        at = tl.arange(0, look)
        mean = tl.zeros([look], tl.float32)
        square = tl.zeros([look], tl.float32)
        count = 0.0
        if row < rows:
            start = row.to(tl.int64) * columns + number * span
            for first in tl.range(0, span, look):
                v = tl.load(x + start + first + at)
                count += 1.0
                apart = v - mean
                mean += apart * (1.0 / count)
                square += apart * (v - mean)
            middle = tl.sum(mean, 0) / look
            away = mean - middle
            tl.store(means + row * parts + number, middle)
            tl.store(squares + row * parts + number, tl.sum(square + count * away * away, 0))
        if pdl:
            tl.extra.cuda.gdc_wait()
    else:
        here = (number - parts) * block + tl.arange(0, block)
        w = tl.load(weight + here)
        b = tl.load(bias + here)
        if pdl:
            tl.extra.cuda.gdc_wait()
        if row > 0:
            place = (row - 1).to(tl.int64) * columns + here
            u = tl.load(x + place)
            mean_of, scale = of_row(means, squares, row - 1, parts, columns, eps, span, wide)
            tl.store(y + place, (u - mean_of) * scale * w + b, cache_modifier=".cs")


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
        more = {"launch_pdl": True} if PDL else {}
        for row in range(rows + 1):
            step[(parts + columns // BLOCK,)](
                x, weight, bias, y, work[0], work[1], row, rows, columns, parts, self.ln.eps, span=SPAN, look=LOOK,
                wide=wide, block=BLOCK, pdl=PDL, num_warps=WARPS, **more,
            )  # fmt: skip
        return y
