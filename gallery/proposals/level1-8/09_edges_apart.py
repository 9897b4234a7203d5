"""Tiles of 128 that are full, edges by small tiles, and k in steps of 32: 5 % less is multiplied than in 06.

8205 x 5921 x 2949 is 65 x 47 tiles of 128 by 47 steps of 64, of which the last row, column and step are nearly empty.
Here strips of 64 x 64 tiles below and beside the 64 x 46 full tiles are in a launch
of their own; k is padded to a multiple of 32. Sums as in 06: small and large apart, large ones out every CHUNK numbers.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_K = 32
STAGES = 5
CHUNK = 1024
GROUP = 8

KNOBS = {"STAGES": [4, 5, 6], "CHUNK": [512, 1024, 4096], "GROUP": [4, 8, 16]}

BLOCK, EDGE = 128, 64


@triton.jit
def _exponent(largest):
    """Of the largest magnitude; no less than -100, so that its factor is a float32."""
    return tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)


@triton.jit
def _power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def _store_parts(value, large_at, small_at, mask):
    large = value.to(tl.float16)
    tl.store(large_at, large, mask=mask)
    tl.store(small_at, ((value - large.to(tl.float32)) * 2048.0).to(tl.float16), mask=mask)


@triton.jit
def _pack_b(x, packed, exponents, k, n, padded, width, block: tl.constexpr):
    """Rows of large parts, then of small ones; zeros from k on. Rows of zeros have the least exponent."""
    row = tl.program_id(0)
    at = tl.arange(0, block)
    value = tl.load(x + row.to(tl.int64) * n + at, mask=(at < n) & (row < k), other=0.0)
    exponent = _exponent(tl.max(tl.abs(value), 0))
    to = packed + row.to(tl.int64) * width + at
    _store_parts(value * _power(14 - exponent), to, to + padded.to(tl.int64) * width, at < width)
    tl.store(exponents + row, exponent)


@triton.jit
def _pack_a(x, packed, column_exponents, exponents, k, padded, block: tl.constexpr):
    """A row as large parts, then small parts, times the powers of two that rows of B were divided by."""
    row = tl.program_id(0)
    at = tl.arange(0, block)
    value = tl.load(x + row.to(tl.int64) * k + at, mask=at < k, other=0.0)
    powers = tl.load(column_exponents + at, mask=at < k, other=-100)
    most = tl.max(powers, 0)
    value *= _power(tl.maximum(powers - most, -126))
    exponent = _exponent(tl.max(tl.abs(value), 0))
    to = packed + row.to(tl.int64) * (2 * padded) + at
    _store_parts(value * _power(14 - exponent), to, to + padded, at < padded)
    tl.store(exponents + row, exponent + most - 28)


@triton.jit
def _tile(
    a, b, exponents, c, row, col, m, n, padded,
    block: tl.constexpr, bk: tl.constexpr, chunk: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    total = tl.zeros((block, block), tl.float32)
    small = tl.zeros((block, block), tl.float32)
    for start in tl.range(0, padded, chunk):
        large = tl.zeros((block, block), tl.float32)
        for at in tl.range(start, tl.minimum(start + chunk, padded), bk, num_stages=stages):
            x = a.load([row, at])
            y = b.load([at, col])
            x_small = a.load([row, padded + at])
            y_small = b.load([padded + at, col])
            large = tl.dot(x, y, large)
            small = tl.dot(x_small, y, small)
            small = tl.dot(x, y_small, small)
        total += large
    total += small * (1.0 / 2048.0)
    rows = row + tl.arange(0, block)
    cols = col + tl.arange(0, block)
    p = tl.load(exponents + rows, mask=rows < m, other=0)
    p = tl.minimum(tl.maximum(p, -250), 250)
    total = total * _power(p >> 1)[:, None] * _power(p - (p >> 1))[:, None]
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    tl.store(c + rows.to(tl.int64)[:, None] * n + cols[None, :], total, mask=inside)


@triton.jit
def _full_tiles(
    a, b, exponents, c, m, n, padded,
    block: tl.constexpr, bk: tl.constexpr, chunk: tl.constexpr, group: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    tiles_m = m // block
    tiles_n = n // block
    first = tl.program_id(0) // (group * tiles_n) * group
    height = tl.minimum(tiles_m - first, group)
    inner = tl.program_id(0) % (group * tiles_n)
    row = (first + inner % height) * block
    col = inner // height * block
    _tile(a, b, exponents, c, row, col, m, n, padded, block, bk, chunk, stages)


@triton.jit
def _edges(
    a, b, exponents, c, m, n, padded, full_m, full_n, below,
    block: tl.constexpr, bk: tl.constexpr, chunk: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    """Strips below the full tiles, over all columns, then beside them."""
    number = tl.program_id(0)
    across = tl.cdiv(n, block)
    beside = tl.maximum(tl.cdiv(n - full_n, block), 1)
    rest = number - below
    row = tl.where(number < below, full_m + number // across * block, rest // beside * block)
    col = tl.where(number < below, number % across * block, full_n + rest % beside * block)
    _tile(a, b, exponents, c, row, col, m, n, padded, block, bk, chunk, stages)


def product(a, b):
    m, k = a.shape
    n = b.shape[1]
    padded = triton.cdiv(k, BLOCK_K) * BLOCK_K
    width = triton.cdiv(n, 64) * 64
    rows = torch.empty((m, 2 * padded), device=a.device, dtype=torch.float16)
    cols = torch.empty((2 * padded, width), device=a.device, dtype=torch.float16)
    exponents = torch.empty(m + padded, device=a.device, dtype=torch.int32)
    c = torch.empty((m, n), device=a.device, dtype=torch.float32)
    _pack_b[(padded,)](b, cols, exponents[m:], k, n, padded, width, block=triton.next_power_of_2(width), num_warps=8)
    _pack_a[(m,)](a, rows, exponents[m:], exponents, k, padded, block=triton.next_power_of_2(padded), num_warps=8)
    full_m, full_n = m // BLOCK * BLOCK, n // BLOCK * BLOCK
    below = triton.cdiv(m - full_m, EDGE) * triton.cdiv(n, EDGE)
    edges = below + full_m // EDGE * triton.cdiv(n - full_n, EDGE)
    settings = {"bk": BLOCK_K, "chunk": CHUNK, "stages": STAGES}
    if edges:
        _edges[(edges,)](
            TensorDescriptor.from_tensor(rows, [EDGE, BLOCK_K]),
            TensorDescriptor.from_tensor(cols, [BLOCK_K, EDGE]),
            exponents, c, m, n, padded, full_m, full_n, below, block=EDGE, num_warps=4, **settings,
        )  # fmt: skip
    if full_m and full_n:
        _full_tiles[(full_m // BLOCK * (full_n // BLOCK),)](
            TensorDescriptor.from_tensor(rows, [BLOCK, BLOCK_K]),
            TensorDescriptor.from_tensor(cols, [BLOCK_K, BLOCK]),
            exponents, c, m, n, padded, block=BLOCK, group=GROUP, num_warps=8, **settings,
        )  # fmt: skip
    return c


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        known = a.dim() == 2 and b.dim() == 2 and a.dtype == b.dtype == torch.float32
        if not known or max(a.shape[1], b.shape[1]) > 32768:
            return torch.matmul(a, b)
        return product(a.contiguous(), b.contiguous())
