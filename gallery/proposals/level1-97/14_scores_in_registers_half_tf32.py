"""Attention for long heads in one float16 product each: 64 queries have all their scores in registers.

Keys and values are packed once, rows scaled by powers of two and rounded to TF32's ten bits of mantissa; queries are
scaled and rounded as they are read, for only one program reads each. Scores and their softmax stay in registers, so
that no more than the rounded shares of values go through memory. The mix is a product of its own on wide tiles.
"""

import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

STEP = 64
TILE_N = 256
WARPS = 4

KNOBS = {"STEP": [32, 64], "TILE_N": [128, 256], "WARPS": [4, 8]}

QUERIES, TILE_M, TILE_K, PACKED = 64, 128, 64, 4


@triton.jit
def _exponent(largest):
    """Of the largest magnitude; no less than -100, so that its factor is a float32."""
    return tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)


@triton.jit
def _power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def _pack(x, packed, exponents, k, many: tl.constexpr, block: tl.constexpr):
    """`many` rows, each times the power of two that has its largest between 2^14 and 2^15."""
    number = tl.program_id(0) * many + tl.arange(0, many)
    at = tl.arange(0, block)
    to = number.to(tl.int64)[:, None] * k + at[None, :]
    inside = (at < k)[None, :]
    value = tl.load(x + to, mask=inside, other=0.0)
    exponent = _exponent(tl.max(tl.abs(value), 1))
    tl.store(packed + to, (value * _power(14 - exponent)[:, None]).to(tl.float16), mask=inside)
    tl.store(exponents + number, exponent - 14)


@triton.jit
def _shares(
    q, k, v_exponents, key_exponents, shares, exponents, rows, keys, width, scale,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    """All scores of a few queries and their softmax, times the powers of two that rows of V were divided by."""
    head = tl.program_id(1)
    row = tl.program_id(0) * bm
    number = head.to(tl.int64) * rows + row + tl.arange(0, bm)
    place = q + number[:, None] * width + tl.arange(0, bk)[None, :]
    most_of_each = tl.zeros((bm, bk), tl.float32)
    for at in tl.range(0, width, bk, num_stages=4):
        most_of_each = tl.maximum(most_of_each, tl.abs(tl.load(place + at)))
    p = _exponent(tl.max(most_of_each, 1)) - 14
    factor = _power(-p)[:, None]
    s = tl.zeros((bm, bn), tl.float32)
    for at in tl.range(0, width, bk, num_stages=stages):
        s = tl.dot((tl.load(place + at) * factor).to(tl.float16), k.load([head * keys, at]).T, s)
    key = tl.arange(0, bn)
    o = tl.load(key_exponents + head * keys + key)
    s *= _power(p >> 1)[:, None] * _power(o >> 1)[None, :]
    s *= _power(p - (p >> 1))[:, None] * _power(o - (o >> 1))[None, :]
    s *= scale
    s = tl.exp(s - tl.max(s, 1)[:, None])
    powers = tl.load(v_exponents + head * keys + key)
    top = tl.max(powers, 0)
    s = s / tl.sum(s, 1)[:, None] * _power(tl.maximum(powers - top, -126))[None, :]
    exponent = _exponent(tl.max(s, 1))
    tl.store(shares + number[:, None] * keys + key[None, :], (s * _power(14 - exponent)[:, None]).to(tl.float16))
    tl.store(exponents + number, exponent - 14 + top)


@triton.jit
def _mix(
    a, b, row_exponents, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    """Of each head: shares times values; one power of two undoes the scales of a row."""
    head = tl.program_id(1)
    tiles = n // bn
    row = tl.program_id(0) // tiles * bm
    col = tl.program_id(0) % tiles * bn
    total = tl.zeros((bm, bn), tl.float32)
    for at in tl.range(0, k, bk, num_stages=stages):
        total = tl.dot(a.load([head * m + row, at]), b.load([head * k + at, col]), total)
    number = head.to(tl.int64) * m + row + tl.arange(0, bm)
    p = tl.load(row_exponents + number)
    p = tl.minimum(tl.maximum(p, -250), 250)
    total = total * _power(p >> 1)[:, None] * _power(p - (p >> 1))[:, None]
    tl.store(c + number[:, None] * n + (col + tl.arange(0, bn))[None, :], total)


class ModelNew(torch.nn.Module):
    def forward(self, q, k, v):
        fits = q.dim() == 4 and q.shape == k.shape == v.shape and q.shape[2] in (128, 256, 512)
        if not fits or q.shape[3] % TILE_N or not q.dtype == k.dtype == v.dtype == torch.float32:
            return torch.nn.functional.scaled_dot_product_attention(q, k, v)
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        heads, length, width = q.shape[0] * q.shape[1], q.shape[2], q.shape[3]
        half = {"device": q.device, "dtype": torch.float16}
        keys, values = torch.empty((heads * length, width), **half), torch.empty((heads * length, width), **half)
        shares = torch.empty((heads * length, length), **half)
        exponents = torch.empty((3, heads * length), device=q.device, dtype=torch.int32)
        o = torch.empty_like(q)
        block = triton.next_power_of_2(width)
        grid = (heads * length // PACKED,)
        _pack[grid](k, keys, exponents[0], width, many=PACKED, block=block, num_warps=WARPS)
        _pack[grid](v, values, exponents[1], width, many=PACKED, block=block, num_warps=WARPS)
        _shares[(length // QUERIES, heads)](
            q, TensorDescriptor.from_tensor(keys, [length, STEP]),
            exponents[1], exponents[0], shares, exponents[2], length, length, width, 1 / math.sqrt(width),
            bm=QUERIES, bn=length, bk=STEP, stages=128 // STEP, num_warps=8,
        )  # fmt: skip
        _mix[(length // TILE_M * (width // TILE_N), heads)](
            TensorDescriptor.from_tensor(shares, [TILE_M, TILE_K]),
            TensorDescriptor.from_tensor(values, [TILE_K, TILE_N]),
            exponents[2], o, length, width, length, bm=TILE_M, bn=TILE_N, bk=TILE_K, stages=3, num_warps=8,
        )  # fmt: skip
        return o
