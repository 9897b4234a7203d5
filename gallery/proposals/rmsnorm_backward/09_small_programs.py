"""Triton: as a copy: many small programs in the order of memory, no loop; dw's parts in a dependent launch.

The persistent programs of 01 and 07 keep 264 places of the memory busy at once. What came nearest to a copy elsewhere
were small programs that end: here a program has a tile of TILE numbers, and its part of dw goes through L2.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

TILE = 16384
NUM_WARPS = 16
DEPENDENT = 1
KNOBS = {"TILE": [16384, 8192, 32768], "NUM_WARPS": [16, 8, 32], "DEPENDENT": [1, 0]}


@triton.jit
def backward(
    x,
    weight,
    dy,
    dx,
    parts,
    count,
    columns,
    rows: tl.constexpr,
    block: tl.constexpr,
    even: tl.constexpr,
    dependent: tl.constexpr,
):
    column = tl.arange(0, block)
    live = column < columns
    scale = tl.load(weight + column, mask=live, other=0.0)
    row = tl.program_id(0) * rows + tl.arange(0, rows)
    at = row.to(tl.int64)[:, None] * columns + column[None, :]
    inside = (row < count)[:, None] & live[None, :]
    if even:
        value = tl.load(x + at)
        slope = tl.load(dy + at)
    else:
        value = tl.load(x + at, mask=inside, other=0.0)
        slope = tl.load(dy + at, mask=inside, other=0.0)
    square = tl.sum(value * value, 1)
    weighted = slope * scale[None, :]
    inverse = 1.0 / tl.sqrt_rn(square / columns + 1e-6)
    normed = value * inverse[:, None]
    mean = tl.sum(weighted * normed, 1) / columns
    result = (weighted - normed * mean[:, None]) * inverse[:, None]
    if even:
        tl.store(dx + at, result)
    else:
        tl.store(dx + at, result, mask=inside)
    total = tl.sum(slope * normed, 0)
    if dependent:
        gdc_launch_dependents()
    tl.store(parts + tl.program_id(0) * columns + column, total, mask=live)


@triton.jit
def add_up(parts, dw, programs, columns, high: tl.constexpr, wide: tl.constexpr, dependent: tl.constexpr):
    if dependent:
        gdc_wait()
    column = tl.program_id(0) * wide + tl.arange(0, wide)
    total = tl.zeros([high, wide], tl.float32)
    for first in tl.range(0, programs, high):
        row = first + tl.arange(0, high)
        inside = (row < programs)[:, None] & (column < columns)[None, :]
        total += tl.load(parts + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    tl.store(dw + column, tl.sum(total, 0), mask=column < columns)


class ModelNew(torch.nn.Module):
    def forward(self, x, weight, dy):
        x, weight, dy = x.contiguous(), weight.contiguous(), dy.contiguous()
        count, columns = x.shape
        dx, dw = torch.empty_like(x), torch.empty_like(weight)
        block = triton.next_power_of_2(columns)
        rows = max(1, TILE // block)
        programs = triton.cdiv(count, rows)
        parts = x.new_empty(programs, columns)
        even = block == columns and count % rows == 0
        backward[(programs,)](
            x,
            weight,
            dy,
            dx,
            parts,
            count,
            columns,
            rows=rows,
            block=block,
            even=even,
            dependent=bool(DEPENDENT),
            num_warps=NUM_WARPS,
        )
        add_up[(triton.cdiv(columns, 16),)](
            parts,
            dw,
            programs,
            columns,
            high=64,
            wide=16,
            dependent=bool(DEPENDENT),
            num_warps=4,
            launch_pdl=bool(DEPENDENT),
        )
        return dx, dw
