"""Small parts with fewer bits: what is not there is not switched, so that the power limit allows a higher clock.

At 700 TFLOP/s the tensor cores run against the power limit, which depends on how many bits change. A small part of
11 - TRIM bits errs by 2^-(22 - TRIM) of a number, at random, below what float32 sums of thousands of products err by.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_N = 256
STAGES = 4
CHUNK = 2048
GROUP = 8
TRIM = 2

KNOBS = {"TRIM": [1, 2, 3], "BLOCK_N": [128, 256], "STAGES": [3, 4], "CHUNK": [1024, 2048, 4096], "GROUP": [4, 8, 16]}

BLOCK_M, BLOCK_K = 128, 64


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
def _pack_b(x, packed, exponents, k, n, padded, width, trim: tl.constexpr, block: tl.constexpr):
    """Rows of large parts, then of small ones; zeros from k on. Rows of zeros have the least exponent."""
    row = tl.program_id(0)
    at = tl.arange(0, block)
    value = tl.load(x + row.to(tl.int64) * n + at, mask=(at < n) & (row < k), other=0.0)
    exponent = _exponent(tl.max(tl.abs(value), 0))
    to = packed + row.to(tl.int64) * width + at
    _store_parts(value * _power(14 - exponent), to, to + padded.to(tl.int64) * width, at < width, trim)
    tl.store(exponents + row, exponent)


@triton.jit
def _pack_a(x, packed, column_exponents, exponents, k, padded, trim: tl.constexpr, block: tl.constexpr):
    """A row as large parts, then small parts, times the powers of two that rows of B were divided by."""
    row = tl.program_id(0)
    at = tl.arange(0, block)
    value = tl.load(x + row.to(tl.int64) * k + at, mask=at < k, other=0.0)
    powers = tl.load(column_exponents + at, mask=at < k, other=-100)
    most = tl.max(powers, 0)
    value *= _power(tl.maximum(powers - most, -126))
    exponent = _exponent(tl.max(tl.abs(value), 0))
    to = packed + row.to(tl.int64) * (2 * padded) + at
    _store_parts(value * _power(14 - exponent), to, to + padded, at < padded, trim)
    tl.store(exponents + row, exponent + most - 28)


@triton.jit
def _product(
    a, b, exponents, c, m, n, padded,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, chunk: tl.constexpr, group: tl.constexpr,
    stages: tl.constexpr,
):  # fmt: skip
    tiles_m = tl.cdiv(m, bm)
    tiles_n = tl.cdiv(n, bn)
    first = tl.program_id(0) // (group * tiles_n) * group
    height = tl.minimum(tiles_m - first, group)
    inner = tl.program_id(0) % (group * tiles_n)
    row = (first + inner % height) * bm
    col = inner // height * bn
    for start in tl.range(0, padded, chunk):
        length = tl.minimum(chunk, padded - start)
        acc = tl.zeros((bm, bn), tl.float32)
        for at in tl.range(0, 2 * length, bk, num_stages=stages):  # small times large, then large times small
            second = at >= length
            x_at = start + tl.where(second, at - length, at + padded)
            y_at = start + tl.where(second, at - length + padded, at)
            acc = tl.dot(a.load([row, x_at]), b.load([y_at, col]), acc)
        acc *= 1.0 / 2048.0
        for at in tl.range(start, start + length, bk, num_stages=stages):
            acc = tl.dot(a.load([row, at]), b.load([at, col]), acc)
        rows = row + tl.arange(0, bm)
        cols = col + tl.arange(0, bn)
        inside = (rows < m)[:, None] & (cols < n)[None, :]
        p = tl.load(exponents + rows, mask=rows < m, other=0)
        p = tl.minimum(tl.maximum(p, -250), 250)
        to = c + rows.to(tl.int64)[:, None] * n + cols[None, :]
        acc = acc * _power(p >> 1)[:, None] * _power(p - (p >> 1))[:, None]
        if start == 0:
            tl.store(to, acc, mask=inside)
        else:  # nobody else adds to this tile: the order is always the same
            tl.atomic_add(to, acc, mask=inside, sem="relaxed")


def product(a, b):
    m, k = a.shape
    n = b.shape[1]
    padded = triton.cdiv(k, BLOCK_K) * BLOCK_K
    width = triton.cdiv(n, 64) * 64
    rows = torch.empty((m, 2 * padded), device=a.device, dtype=torch.float16)
    cols = torch.empty((2 * padded, width), device=a.device, dtype=torch.float16)
    exponents = torch.empty(m + padded, device=a.device, dtype=torch.int32)
    c = torch.empty((m, n), device=a.device, dtype=torch.float32)
    _pack_b[(padded,)](
        b, cols, exponents[m:], k, n, padded, width, trim=TRIM, block=triton.next_power_of_2(width), num_warps=8
    )
    _pack_a[(m,)](
        a, rows, exponents[m:], exponents, k, padded, trim=TRIM, block=triton.next_power_of_2(padded), num_warps=8
    )
    _product[(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)](
        TensorDescriptor.from_tensor(rows, [BLOCK_M, BLOCK_K]),
        TensorDescriptor.from_tensor(cols, [BLOCK_K, BLOCK_N]),
        exponents, c, m, n, padded,
        bm=BLOCK_M, bn=BLOCK_N, bk=BLOCK_K, chunk=CHUNK, group=GROUP, stages=STAGES, num_warps=8,
    )  # fmt: skip
    return c


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        known = a.dim() == 2 and b.dim() == 2 and a.dtype == b.dtype == torch.float32
        if not known or max(a.shape[1], b.shape[1]) > 32768:
            return torch.matmul(a, b)
        return product(a.contiguous(), b.contiguous())
