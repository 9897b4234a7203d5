"""Rows scaled into two float16 parts; three wgmma products each, softmax between packs P.

Rows of Q and K carry a power of two each that the scores are multiplied by; a row of V stands at one k of the second
product, so its power goes into a column of P before a row of P is scaled. Two float16 parts, rounded to nearest,
represent a float32 to 2^-24 of itself (down to 2^-29 of the largest of its row); the smaller parts are kept 2^11 times
larger, and small products are added first.
"""

import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_M = 128
BLOCK_N = 256
BLOCK_K = 64
STAGES = 4

KNOBS = {"BLOCK_N": [128, 256], "BLOCK_K": [32, 64], "STAGES": [3, 4]}


@triton.jit
def _exponent(largest):
    """Of the largest magnitude; no less than -100, so that its factor is a float32."""
    return tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)


@triton.jit
def _power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def _pack(x, packed, exponents, length, k, pitch, small_at, large_at, block: tl.constexpr):
    """A row as two parts: heads are `2 * length * k` apart in `packed`, rows `pitch`."""
    number = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, block)
    value = tl.load(x + number * k + at, mask=at < k, other=0.0)
    exponent = _exponent(tl.max(tl.abs(value), 0))
    value *= _power(14 - exponent)
    large = value.to(tl.float16)
    small = ((value - large.to(tl.float32)) * 2048.0).to(tl.float16)
    to = packed + number // length * (2 * length * k) + number % length * pitch + at
    tl.store(to + small_at, small, mask=at < k)
    tl.store(to + large_at, large, mask=at < k)
    tl.store(exponents + number, exponent - 14)


@triton.jit
def _softmax(s, packed, value_exponents, exponents, rows, keys, block: tl.constexpr):
    number = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, block)
    score = tl.load(s + number * keys + at, mask=at < keys, other=-float("inf"))
    power = tl.exp(score - tl.max(score, 0))
    share = power / tl.sum(power, 0)
    share *= _power(tl.load(value_exponents + number // rows * keys + at, mask=at < keys, other=0))
    exponent = _exponent(tl.max(share, 0))
    share *= _power(14 - exponent)
    large = share.to(tl.float16)
    small = ((share - large.to(tl.float32)) * 2048.0).to(tl.float16)
    to = packed + number * (2 * keys) + at
    tl.store(to, small, mask=at < keys)
    tl.store(to + keys, large, mask=at < keys)
    tl.store(exponents + number, exponent - 14)


@triton.jit
def _product(
    a, b, row_exponents, col_exponents, c, m, n, k, b_rows, scale,
    turned: tl.constexpr, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    """Of each head: small | large parts of A by large, small parts of B, whose rows lie along n if `turned`, else k."""
    head = tl.program_id(1)
    tiles = tl.cdiv(n, bn)
    row = tl.program_id(0) // tiles * bm
    col = tl.program_id(0) % tiles * bn
    acc = tl.zeros((bm, bn), tl.float32)
    for at in tl.range(0, 2 * k, bk, num_stages=stages):
        x = a.load([head * m + row, at])
        y = b.load([head * b_rows + col, at]).T if turned else b.load([head * b_rows + at, col])
        acc = tl.dot(x, y, acc)
    acc *= 1.0 / 2048.0
    for at in tl.range(0, k, bk, num_stages=stages):
        x = a.load([head * m + row, k + at])
        y = b.load([head * b_rows + col, at]).T if turned else b.load([head * b_rows + at, col])
        acc = tl.dot(x, y, acc)
    rows = row + tl.arange(0, bm)
    cols = col + tl.arange(0, bn)
    p = tl.load(row_exponents + head * m + rows, mask=rows < m, other=0)
    if turned:
        q = tl.load(col_exponents + head * n + cols, mask=cols < n, other=0)
        acc *= _power(p >> 1)[:, None] * _power(q >> 1)[None, :]
        acc *= _power(p - (p >> 1))[:, None] * _power(q - (q >> 1))[None, :]
        acc *= scale
    else:
        acc = acc * _power(p)[:, None]
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    tl.store(c + (head.to(tl.int64) * m + rows)[:, None] * n + cols[None, :], acc, mask=inside)


class ModelNew(torch.nn.Module):
    def forward(self, q, k, v):
        fits = q.dim() == 4 and q.shape == k.shape == v.shape and q.shape[2] % BLOCK_M == 0 and q.shape[2] <= 4096
        if not fits or q.shape[3] % BLOCK_K or not q.dtype == k.dtype == v.dtype == torch.float32:
            return torch.nn.functional.scaled_dot_product_attention(q, k, v)
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        heads, length, width = q.shape[0] * q.shape[1], q.shape[2], q.shape[3]
        half = {"device": q.device, "dtype": torch.float16}
        rows, keys = torch.empty((heads * length, 2 * width), **half), torch.empty((heads * length, 2 * width), **half)
        values = torch.empty((heads * 2 * length, width), **half)
        shares = torch.empty((heads * length, 2 * length), **half)
        exponents = torch.empty((4, heads * length), device=q.device, dtype=torch.int32)
        s = torch.empty((heads, length, length), device=q.device, dtype=torch.float32)
        o = torch.empty_like(q)
        block = triton.next_power_of_2(width)
        grid = (heads * length,)
        _pack[grid](q, rows, exponents[0], length, width, 2 * width, 0, width, block=block, num_warps=4)
        _pack[grid](k, keys, exponents[1], length, width, 2 * width, width, 0, block=block, num_warps=4)
        _pack[grid](v, values, exponents[2], length, width, width, length * width, 0, block=block, num_warps=4)
        up = length // BLOCK_M
        sizes = {"bm": BLOCK_M, "bn": BLOCK_N, "bk": BLOCK_K, "stages": STAGES, "num_warps": 8}
        _product[(up * triton.cdiv(length, BLOCK_N), heads)](
            TensorDescriptor.from_tensor(rows, [BLOCK_M, BLOCK_K]),
            TensorDescriptor.from_tensor(keys, [BLOCK_N, BLOCK_K]),
            exponents[0], exponents[1], s, length, length, width, length, 1 / math.sqrt(width), turned=True, **sizes,
        )  # fmt: skip
        _softmax[grid](
            s, shares, exponents[2], exponents[3], length, length, block=triton.next_power_of_2(length), num_warps=4
        )
        _product[(up * triton.cdiv(width, BLOCK_N), heads)](
            TensorDescriptor.from_tensor(shares, [BLOCK_M, BLOCK_K]),
            TensorDescriptor.from_tensor(values, [BLOCK_K, BLOCK_N]),
            exponents[3], exponents[3], o, length, width, length, 2 * length, 1.0, turned=False, **sizes,
        )  # fmt: skip
        return o
