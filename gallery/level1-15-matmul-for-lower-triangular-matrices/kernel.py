# Exported by Kernwright 0.1.0: node 13 of run 20261122-level1-15-matmul-for-lower-trian-ebf7, by Claude (Anthropic).
# problem: level1_15_Matmul_for_lower_triangular_matrices (f32761f77086563dbba35a25b0baeefb)
# verdict: verified
# speedup: 14.393x [14.283, 14.504], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: input 0 keeps what its draws have in common: 8386560 of its elements are 0 in every draw
# note: input 1 keeps what its draws have in common: 8386560 of its elements are 0 in every draw
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 9aa48ce4235039fe405cd45c50354be086b0eab893eb980955bed57e2d60c7b2
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Small parts with fewer bits: zeros are not switched, so that the power limit allows the tensor cores a higher clock.

As 05. A small part of 11 - TRIM bits errs by 2^-(22 - TRIM) of a number at random, less than what float32 sums of
thousands of products err by; also all of k stays in the accumulators, which saves a third of the registers.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_K = 64
STAGES = 3
TRIM = 2

KNOBS = {"TRIM": [1, 2, 3], "BLOCK_K": [32, 64], "STAGES": [2, 3]}

BLOCK = 128
PROGRAMS = 128
"""That fill what was left out, where that is needed."""


@triton.jit
def _exponent(largest):
    """Of the largest magnitude; no less than -100, so that its factor is a float32."""
    return tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)


@triton.jit
def _power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def _store_parts(value, large_at, small_at, mask, trim: tl.constexpr):
    """Small parts keep 11 - trim bits, rounded; zeros in the rest are switched nowhere on the way."""
    large = value.to(tl.float16)
    tl.store(large_at, large, mask=mask)
    small = ((value - large.to(tl.float32)) * 2048.0).to(tl.float16)
    bits = small.to(tl.int16, bitcast=True).to(tl.int32)
    bits = (bits + (1 << (trim - 1))) & -(1 << trim)
    tl.store(small_at, bits.to(tl.int16).to(tl.float16, bitcast=True), mask=mask)


@triton.jit
def _extent(value, at, n, row, firsts, lasts, padded, block: tl.constexpr):
    """Notes where a row's numbers begin and end; returns how much of it is written."""
    last = tl.max(tl.where(value != 0.0, at + 1, 0), 0)
    tl.store(firsts + row, tl.min(tl.where(value != 0.0, at, n), 0))
    tl.store(lasts + row, last)
    bound = (row // block + 1) * block
    return tl.where(last <= bound, bound, padded)


@triton.jit
def _pack_b(
    x, packed, exponents, firsts, lasts, n, padded, trim: tl.constexpr, wide: tl.constexpr, block: tl.constexpr
):
    """Rows of large parts, then of small ones; zeros from n on. Rows of zeros have the least exponent."""
    row = tl.program_id(0)
    at = tl.arange(0, wide)
    value = tl.load(x + row.to(tl.int64) * n + at, mask=(at < n) & (row < n), other=0.0)
    written = _extent(value, at, n, row, firsts, lasts, padded, block)
    exponent = _exponent(tl.max(tl.abs(value), 0))
    to = packed + row.to(tl.int64) * padded + at
    _store_parts(value * _power(14 - exponent), to, to + padded.to(tl.int64) * padded, at < written, trim)
    tl.store(exponents + row, exponent)


@triton.jit
def _pack_a(
    x, packed, row_exponents, exponents, firsts, lasts, n, padded, trim: tl.constexpr, wide: tl.constexpr,
    block: tl.constexpr,
):  # fmt: skip
    """A row as large parts, then small parts, times the powers of two that rows of B were divided by."""
    row = tl.program_id(0)
    at = tl.arange(0, wide)
    value = tl.load(x + row.to(tl.int64) * n + at, mask=at < n, other=0.0)
    written = _extent(value, at, n, row, firsts, lasts, padded, block)
    powers = tl.load(row_exponents + at, mask=at < n, other=-100)
    most = tl.max(powers, 0)
    value *= _power(tl.maximum(powers - most, -126))
    exponent = _exponent(tl.max(tl.abs(value), 0))
    to = packed + row.to(tl.int64) * (2 * padded) + at
    _store_parts(value * _power(14 - exponent), to, to + padded, at < written, trim)
    tl.store(exponents + row, exponent + most - 28)


@triton.jit
def _fill(parts, lasts, n, padded, pitch, step, wide: tl.constexpr, block: tl.constexpr):
    """Zeros where a row was left out, if any row was not."""
    at = tl.arange(0, wide)
    bound = tl.minimum((at // block + 1) * block, padded)
    beyond = tl.max((tl.load(lasts + at, mask=at < n, other=0) > bound).to(tl.int32), 0)
    if beyond > 0:
        for row in range(tl.program_id(0), n, tl.num_programs(0)):
            first = (row // block + 1) * block
            left = (at >= first) & (at < padded) & (tl.load(lasts + row) <= first)
            to = parts + row * pitch + at
            tl.store(to, tl.zeros((wide,), tl.float16), mask=left)
            tl.store(to + step, tl.zeros((wide,), tl.float16), mask=left)


@triton.jit
def _survey(
    rows, cols, a_lasts, b_firsts, b_lasts, col_firsts, col_lasts, n, padded, tiles,
    wide: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Fills what has to be filled; at which rows of B a tile of its columns has its first and last number."""
    _fill(rows, a_lasts, n, padded, padded.to(tl.int64) * 2, padded, wide, block)
    _fill(cols, b_lasts, n, padded, padded.to(tl.int64), padded.to(tl.int64) * padded, wide, block)
    at = tl.arange(0, wide)
    first = tl.load(b_firsts + at, mask=at < n, other=n)
    last = tl.load(b_lasts + at, mask=at < n, other=0)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        has = (first < (tile + 1) * block) & (last > tile * block)
        tl.store(col_firsts + tile, tl.min(tl.where(has, at, n), 0))
        tl.store(col_lasts + tile, tl.max(tl.where(has, at + 1, 0), 0))


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
    a, b, exponents, row_firsts, row_lasts, col_firsts, col_lasts, c, n, padded,
    block: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    tile_row, tile_col, above = _tile(tl.program_id(0), tl.cdiv(n, block))
    row = tile_row * block
    col = tile_col * block
    rows = row + tl.arange(0, block)
    cols = col + tl.arange(0, block)
    if above:
        to = c + rows.to(tl.int64)[:, None] * n + cols[None, :]
        inside = (rows < n)[:, None] & (cols < n)[None, :]
        tl.store(to, tl.zeros((block, block), tl.float32), mask=inside)
    else:
        first = tl.min(tl.load(row_firsts + rows, mask=rows < n, other=n), 0)
        first = tl.maximum(first, tl.load(col_firsts + tile_col)) // bk * bk
        last = tl.max(tl.load(row_lasts + rows, mask=rows < n, other=0), 0)
        last = tl.minimum(last, tl.load(col_lasts + tile_col))
        total = tl.zeros((block, block), tl.float32)
        small = tl.zeros((block, block), tl.float32)
        for at in tl.range(first, last, bk, num_stages=stages):
            x = a.load([row, at])
            y = b.load([at, col])
            x_small = a.load([row, padded + at])
            y_small = b.load([padded + at, col])
            total = tl.dot(x, y, total)
            small = tl.dot(x_small, y, small)
            small = tl.dot(x, y_small, small)
        total += small * (1.0 / 2048.0)
        p = tl.load(exponents + rows, mask=rows < n, other=0)
        p = tl.minimum(tl.maximum(p, -250), 250)
        total = total * _power(p >> 1)[:, None] * _power(p - (p >> 1))[:, None]
        rows = row + tl.arange(0, block)
        cols = col + tl.arange(0, block)
        to = c + rows.to(tl.int64)[:, None] * n + cols[None, :]
        inside = (rows < n)[:, None] & (cols < n)[None, :]
        tl.store(to, tl.where(cols[None, :] <= rows[:, None], total, 0.0), mask=inside)


def product(a, b):
    n = a.shape[0]
    padded = triton.cdiv(n, BLOCK) * BLOCK
    tiles = padded // BLOCK
    wide = triton.next_power_of_2(padded)
    rows = torch.empty((n, 2 * padded), device=a.device, dtype=torch.float16)
    cols = torch.empty((2 * padded, padded), device=a.device, dtype=torch.float16)
    found = torch.empty((8, padded), device=a.device, dtype=torch.int32)
    c = torch.empty((n, n), device=a.device, dtype=torch.float32)
    p, q, row_firsts, row_lasts, b_firsts, b_lasts, col_firsts, col_lasts = found.unbind()
    _pack_b[(padded,)](b, cols, q, b_firsts, b_lasts, n, padded, trim=TRIM, wide=wide, block=BLOCK, num_warps=8)
    _pack_a[(n,)](a, rows, q, p, row_firsts, row_lasts, n, padded, trim=TRIM, wide=wide, block=BLOCK, num_warps=8)
    _survey[(PROGRAMS,)](
        rows, cols, row_lasts, b_firsts, b_lasts, col_firsts, col_lasts, n, padded, tiles,
        wide=wide, block=BLOCK, num_warps=8,
    )  # fmt: skip
    _product[(tiles * tiles,)](
        TensorDescriptor.from_tensor(rows, [BLOCK, BLOCK_K]),
        TensorDescriptor.from_tensor(cols, [BLOCK_K, BLOCK]),
        p, row_firsts, row_lasts, col_firsts, col_lasts, c, n, padded,
        block=BLOCK, bk=BLOCK_K, stages=STAGES, num_warps=8,
    )  # fmt: skip
    return c


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        known = a.dim() == 2 and a.shape == b.shape and a.shape[0] == a.shape[1] and a.shape[0] <= 32768
        if not known or a.dtype != torch.float32 or b.dtype != torch.float32:
            return torch.tril(torch.matmul(a, b))
        return product(a.contiguous(), b.contiguous())
