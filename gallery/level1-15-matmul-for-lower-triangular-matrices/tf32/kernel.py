# Exported by Kernwright 0.1.0: node 2 of run 20261126-level1-15-matmul-for-lower-trian-58a7, by Claude (Anthropic).
# problem: level1_15_Matmul_for_lower_triangular_matrices (23edd9dae9d8a4ba43bf47d239313816)
# verdict: verified
# speedup: 3.167x [3.144, 3.190], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: input 0 keeps what its draws have in common: 8386560 of its elements are 0 in every draw
# note: input 1 keeps what its draws have in common: 8386560 of its elements are 0 in every draw
# note: shape-specialised: the problem holds no workload back, so only values were varied
# evidence: kernel.bundle.json, bundle f348f2469c09b09fc801b023c78bb28d24932377e7d73f8ffbc21aebc7d85e0d
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""tril(A B) as one float16 product of scaled rows, which rounds as TF32 does, without tiles that are zero.

A float16 has TF32's ten bits of mantissa and twice its speed. A row of B is scaled by a power of two that goes into
that column of A. Zeros are looked up while rows are packed, in dependent launches; the longest tiles of 128 x 128 come
first, two programs a multiprocessor.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_K = 64
STAGES = 3
WARPS = 4
PDL = True

KNOBS = {"WARPS": [4, 8], "BLOCK_K": [64, 128], "STAGES": [3, 2]}

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
def _largest(value):
    """The largest finite magnitude: infinities and nans stay what they are under any scale."""
    size = tl.abs(value)
    return tl.max(tl.where(size < float("inf"), size, 0.0), 0)


@triton.jit
def _extent(value, at, n, row, firsts, lasts, padded, block: tl.constexpr):
    """Notes where a row's numbers begin and end; returns how much of it is written."""
    last = tl.max(tl.where(value != 0.0, at + 1, 0), 0)
    tl.store(firsts + row, tl.min(tl.where(value != 0.0, at, n), 0))
    tl.store(lasts + row, last)
    bound = (row // block + 1) * block
    return tl.where(last <= bound, bound, padded)


@triton.jit
def _pack_b(x, packed, exponents, firsts, lasts, n, padded, wide: tl.constexpr, block: tl.constexpr, pdl: tl.constexpr):
    """Rows of B, scaled, as float16; zeros from n on. Rows of zeros have the least exponent."""
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
    row = tl.program_id(0)
    at = tl.arange(0, wide)
    value = tl.load(x + row.to(tl.int64) * n + at, mask=(at < n) & (row < n), other=0.0)
    written = _extent(value, at, n, row, firsts, lasts, padded, block)
    exponent = _exponent(_largest(value))
    to = packed + row.to(tl.int64) * padded + at
    tl.store(to, (value * _power(14 - exponent)).to(tl.float16), mask=at < written)
    tl.store(exponents + row, exponent)


@triton.jit
def _pack_a(
    x, packed, c, row_exponents, exponents, firsts, lasts, n, padded, wide: tl.constexpr, block: tl.constexpr,
    pdl: tl.constexpr,
):  # fmt: skip
    """A row of A as float16, times the powers of two that rows of B were divided by; zeros of the result."""
    row = tl.program_id(0)
    at = tl.arange(0, wide)
    value = tl.load(x + row.to(tl.int64) * n + at, mask=at < n, other=0.0)
    above = (at >= (row // block + 1) * block) & (at < n)
    tl.store(c + row.to(tl.int64) * n + at, tl.zeros((wide,), tl.float32), mask=above)
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    written = _extent(value, at, n, row, firsts, lasts, padded, block)
    powers = tl.load(row_exponents + at, mask=at < n, other=-100)
    most = tl.max(powers, 0)
    value *= _power(tl.maximum(powers - most, -126))
    exponent = _exponent(_largest(value))
    to = packed + row.to(tl.int64) * padded + at
    tl.store(to, (value * _power(14 - exponent)).to(tl.float16), mask=at < written)
    tl.store(exponents + row, exponent + most - 28)


@triton.jit
def _fill(packed, lasts, n, padded, wide: tl.constexpr, block: tl.constexpr):
    """Zeros where a row was left out, if any row was not."""
    at = tl.arange(0, wide)
    bound = tl.minimum((at // block + 1) * block, padded)
    beyond = tl.max((tl.load(lasts + at, mask=at < n, other=0) > bound).to(tl.int32), 0)
    if beyond > 0:
        for row in range(tl.program_id(0), n, tl.num_programs(0)):
            first = (row // block + 1) * block
            left = (at >= first) & (at < padded) & (tl.load(lasts + row) <= first)
            to = packed + row * padded.to(tl.int64) + at
            tl.store(to, tl.zeros((wide,), tl.float16), mask=left)


@triton.jit
def _survey(
    rows, cols, a_lasts, b_firsts, b_lasts, col_firsts, col_lasts, n, padded, tiles,
    wide: tl.constexpr, block: tl.constexpr, pdl: tl.constexpr,
):  # fmt: skip
    """Fills what has to be filled; at which rows of B a tile of its columns has its first and last number."""
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    _fill(rows, a_lasts, n, padded, wide, block)
    _fill(cols, b_lasts, n, padded, wide, block)
    at = tl.arange(0, wide)
    first = tl.load(b_firsts + at, mask=at < n, other=n)
    last = tl.load(b_lasts + at, mask=at < n, other=0)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        has = (first < (tile + 1) * block) & (last > tile * block)
        tl.store(col_firsts + tile, tl.min(tl.where(has, at, n), 0))
        tl.store(col_lasts + tile, tl.max(tl.where(has, at + 1, 0), 0))


@triton.jit
def _tile(number, tiles):
    """Tiles of the lower triangle by distance from the diagonal, the farthest and longest first."""
    level = ((tl.sqrt((8 * number + 1).to(tl.float32)) - 1.0) * 0.5).to(tl.int32)
    level = tl.where(level * (level + 1) // 2 > number, level - 1, level)
    level = tl.where((level + 1) * (level + 2) // 2 <= number, level + 1, level)
    at = number - level * (level + 1) // 2
    return at + tiles - 1 - level, at


@triton.jit
def _product(
    a, b, exponents, row_firsts, row_lasts, col_firsts, col_lasts, c, n, padded,
    block: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr, pdl: tl.constexpr,
):  # fmt: skip
    if pdl:
        tl.extra.cuda.gdc_wait()
    tile_row, tile_col = _tile(tl.program_id(0), tl.cdiv(n, block))
    row = tile_row * block
    col = tile_col * block
    rows = row + tl.arange(0, block)
    cols = col + tl.arange(0, block)
    first = tl.min(tl.load(row_firsts + rows, mask=rows < n, other=n), 0)
    first = tl.maximum(first, tl.load(col_firsts + tile_col)) // bk * bk
    last = tl.max(tl.load(row_lasts + rows, mask=rows < n, other=0), 0)
    last = tl.minimum(last, tl.load(col_lasts + tile_col))
    total = tl.zeros((block, block), tl.float32)
    for at in tl.range(first, last, bk, num_stages=stages):
        total = tl.dot(a.load([row, at]), b.load([at, col]), total)
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
    rows = torch.empty((n, padded), device=a.device, dtype=torch.float16)
    cols = torch.empty((padded, padded), device=a.device, dtype=torch.float16)
    found = torch.empty((8, padded), device=a.device, dtype=torch.int32)
    c = torch.empty((n, n), device=a.device, dtype=torch.float32)
    p, q, row_firsts, row_lasts, b_firsts, b_lasts, col_firsts, col_lasts = found.unbind()
    more = {"launch_pdl": True} if PDL else {}
    _pack_b[(padded,)](b, cols, q, b_firsts, b_lasts, n, padded, wide=wide, block=BLOCK, pdl=PDL, num_warps=8)
    _pack_a[(n,)](
        a, rows, c, q, p, row_firsts, row_lasts, n, padded, wide=wide, block=BLOCK, pdl=PDL, num_warps=8, **more
    )
    _survey[(PROGRAMS,)](
        rows, cols, row_lasts, b_firsts, b_lasts, col_firsts, col_lasts, n, padded, tiles,
        wide=wide, block=BLOCK, pdl=PDL, num_warps=8, **more,
    )  # fmt: skip
    _product[(tiles * (tiles + 1) // 2,)](
        TensorDescriptor.from_tensor(rows, [BLOCK, BLOCK_K]),
        TensorDescriptor.from_tensor(cols, [BLOCK_K, BLOCK]),
        p, row_firsts, row_lasts, col_firsts, col_lasts, c, n, padded,
        block=BLOCK, bk=BLOCK_K, stages=STAGES, pdl=PDL, num_warps=WARPS, **more,
    )  # fmt: skip
    return c


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        known = a.dim() == 2 and a.shape == b.shape and a.shape[0] == a.shape[1] and a.shape[0] <= 32768
        if not known or a.dtype != torch.float32 or b.dtype != torch.float32:
            return torch.tril(torch.matmul(a, b))
        return product(a.contiguous(), b.contiguous())
