"""Zero tiles are looked up first; then one tf32x3 kernel multiplies what lies between, long first.

The result's upper triangle is zero whatever the inputs are; a look at all inputs says from where to where along k both
rows and columns have anything, so that any matrices are right.
"""

import torch
import triton
import triton.language as tl

BLOCK = 128
BLOCK_K = 32
STAGES = 3
WARPS = 8

KNOBS = {"BLOCK": [64, 128], "STAGES": [2, 3, 4]}

HIGH = 128
"""Rows of a tile of B that is looked through for numbers."""


@triton.jit
def _ends_of_rows(x, firsts, lasts, k, block: tl.constexpr):
    """Where the numbers of a row begin and end."""
    row = tl.program_id(0)
    at = tl.arange(0, block)
    value = tl.load(x + row.to(tl.int64) * k + at, mask=at < k, other=0.0)
    tl.store(firsts + row, tl.min(tl.where(value != 0.0, at, k), 0))
    tl.store(lasts + row, tl.max(tl.where(value != 0.0, at + 1, 0), 0))


@triton.jit
def _full(x, full, n, high: tl.constexpr, block: tl.constexpr):
    """Which tiles have any number that is not zero."""
    row = tl.program_id(1) * high + tl.arange(0, high)
    col = tl.program_id(0) * block + tl.arange(0, block)
    inside = (row < n)[:, None] & (col < n)[None, :]
    value = tl.load(x + row.to(tl.int64)[:, None] * n + col[None, :], mask=inside, other=0.0)
    any_number = tl.max(tl.max((value != 0.0).to(tl.int32), 1), 0)
    tl.store(full + tl.program_id(0) * tl.num_programs(1) + tl.program_id(1), any_number)


@triton.jit
def _tile(number, tiles):
    """Tiles of the lower triangle by distance from the diagonal, the farthest and longest first; then the rest."""
    lower = tiles * (tiles + 1) // 2
    turned = number >= lower
    t = tl.where(turned, number - lower, number)
    level = ((tl.sqrt((8 * t + 1).to(tl.float32)) - 1.0) * 0.5).to(tl.int32)
    level = tl.where(level * (level + 1) // 2 > t, level - 1, level)
    level = tl.where((level + 1) * (level + 2) // 2 <= t, level + 1, level)
    at = t - level * (level + 1) // 2
    row = at + tiles - 1 - level
    return tl.where(turned, at, row), tl.where(turned, level + 1, at), turned


@triton.jit
def _product(
    a, b, firsts, lasts, full, c, n, pieces,
    block: tl.constexpr, bk: tl.constexpr, most: tl.constexpr, high: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    tile_row, tile_col, above = _tile(tl.program_id(0), tl.cdiv(n, block))
    rows = tile_row * block + tl.arange(0, block)
    cols = tile_col * block + tl.arange(0, block)
    if above:
        to = c + rows.to(tl.int64)[:, None] * n + cols[None, :]
        inside = (rows < n)[:, None] & (cols < n)[None, :]
        tl.store(to, tl.zeros((block, block), tl.float32), mask=inside)
    else:
        number = tl.arange(0, most)
        known = tl.load(full + tile_col * pieces + number, mask=number < pieces, other=0) != 0
        first = tl.min(tl.load(firsts + rows, mask=rows < n, other=n), 0) // bk * bk
        first = tl.maximum(first, tl.min(tl.where(known, number, pieces), 0) * high)
        last = tl.max(tl.load(lasts + rows, mask=rows < n, other=0), 0)
        last = tl.minimum(last, tl.max(tl.where(known, number + 1, 0), 0) * high)
        acc = tl.zeros((block, block), tl.float32)
        at = tl.arange(0, bk)
        left = a + rows.to(tl.int64)[:, None] * n + (first + at)[None, :]
        right = b + (first + at).to(tl.int64)[:, None] * n + cols[None, :]
        for start in tl.range(first, last, bk, num_stages=stages):
            there = start + at < n
            x = tl.load(left, mask=(rows < n)[:, None] & there[None, :], other=0.0)
            y = tl.load(right, mask=there[:, None] & (cols < n)[None, :], other=0.0)
            acc = tl.dot(x, y, acc, input_precision="tf32x3")
            left += bk
            right += bk * n
        rows = tile_row * block + tl.arange(0, block)
        to = c + rows.to(tl.int64)[:, None] * n + cols[None, :]
        inside = (rows < n)[:, None] & (cols < n)[None, :]
        tl.store(to, tl.where(cols[None, :] <= rows[:, None], acc, 0.0), mask=inside)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        known = a.dim() == 2 and a.shape == b.shape and a.shape[0] == a.shape[1]
        if not known or a.dtype != torch.float32 or b.dtype != torch.float32:
            return torch.tril(torch.matmul(a, b))
        a, b = a.contiguous(), b.contiguous()
        n = a.shape[0]
        tiles, pieces = triton.cdiv(n, BLOCK), triton.cdiv(n, HIGH)
        firsts, lasts = torch.empty((2, n), device=a.device, dtype=torch.int32).unbind()
        full = torch.empty(tiles * pieces, device=a.device, dtype=torch.int32)
        c = torch.empty_like(a)
        _ends_of_rows[(n,)](a, firsts, lasts, n, block=triton.next_power_of_2(n), num_warps=8)
        _full[(tiles, pieces)](b, full, n, high=HIGH, block=BLOCK, num_warps=8)
        _product[(tiles * tiles,)](
            a, b, firsts, lasts, full, c, n, pieces,
            block=BLOCK, bk=BLOCK_K, most=triton.next_power_of_2(pieces), high=HIGH, stages=STAGES, num_warps=WARPS,
        )  # fmt: skip
        return c
