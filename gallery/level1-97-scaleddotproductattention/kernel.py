# Exported by Kernwright 0.1.0: node 8 of run 20261122-level1-97-scaleddotproductattent-02b5, by Claude (Anthropic).
# problem: level1_97_ScaledDotProductAttention (754596957e27d1f6313134f37544ed1a)
# verdict: verified
# speedup: 2.464x [2.410, 2.518], 95 % interval, against PyTorch eager
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: not watched: the device has no room for one process more
# note: champion counts 220.3 µs more than the 9680.0 µs that its calls show: in long messages of up to 2 calls each takes 10502.0 ± 1675.3 µs (workload 'default')
# note: clocks: the SM clock fell from 1980 to 1785 MHz while kernels were timed
# note: throttling: the device held itself back (power cap)
# evidence: kernel.bundle.json, bundle 975001cde1897e8ba697a5854dc8fa5e097c4a6cc641c7fc59335569733e48d4
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Small parts with fewer bits: zeros are not switched, so that the power limit allows the tensor cores a higher clock.

As 06. A small part of nine bits errs by 2^-20 of a number at random, which a score of 1024 products
averages; three products of 1.1 TFLOP run against the power limit for most of the time.
"""

import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

STAGES = 3
CHUNK = 512
WARPS = 4

KNOBS = {"STAGES": [2, 3], "CHUNK": [256, 512, 1024], "WARPS": [2, 4, 8]}

BLOCK, BLOCK_K = 128, 64


@triton.jit
def _exponent(largest):
    """Of the largest magnitude; no less than -100, so that its factor is a float32."""
    return tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)


@triton.jit
def _power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def _store_parts(value, large_at, small_at, mask, trim: tl.constexpr = 2):
    """Small parts keep 11 - trim bits, rounded; zeros in the rest are switched nowhere on the way."""
    large = value.to(tl.float16)
    tl.store(large_at, large, mask=mask)
    small = ((value - large.to(tl.float32)) * 2048.0).to(tl.float16)
    bits = small.to(tl.int16, bitcast=True).to(tl.int32)
    bits = (bits + (1 << (trim - 1))) & -(1 << trim)
    tl.store(small_at, bits.to(tl.int16).to(tl.float16, bitcast=True), mask=mask)


@triton.jit
def _pack(x, packed, exponents, length, k, pitch, step, block: tl.constexpr):
    """A row as large and small parts, `step` apart: heads are `2 * length * k` apart in `packed`, rows `pitch`."""
    number = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, block)
    value = tl.load(x + number * k + at, mask=at < k, other=0.0)
    exponent = _exponent(tl.max(tl.abs(value), 0))
    to = packed + number // length * (2 * length * k) + number % length * pitch + at
    _store_parts(value * _power(14 - exponent), to, to + step, at < k)
    tl.store(exponents + number, exponent - 14)


@triton.jit
def _pack_shares(share, at, number, packed, value_exponents, exponents, rows, keys):
    """A row of the softmax, times the powers of two that rows of V were divided by."""
    powers = tl.load(value_exponents + number // rows * keys + at, mask=at < keys, other=-120)
    most = tl.max(powers, 0)
    share *= _power(tl.maximum(powers - most, -126))
    exponent = _exponent(tl.max(share, 0))
    to = packed + number * (2 * keys) + at
    _store_parts(share * _power(14 - exponent), to, to + keys, at < keys)
    tl.store(exponents + number, exponent - 14 + most)


@triton.jit
def _softmax(s, packed, value_exponents, exponents, rows, keys, block: tl.constexpr):
    number = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, block)
    score = tl.load(s + number * keys + at, mask=at < keys, other=-float("inf"))
    power = tl.exp(score - tl.max(score, 0))
    share = power / tl.sum(power, 0)
    _pack_shares(share, at, number, packed, value_exponents, exponents, rows, keys)


@triton.jit
def _product(
    a, b, row_exponents, col_exponents, c, m, n, k, b_rows, scale,
    turned: tl.constexpr, block: tl.constexpr, bk: tl.constexpr, chunk: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    """Of each head: rows of A are large | small; those of B too if `turned`, else its small rows follow the large."""
    head = tl.program_id(1)
    tiles = tl.cdiv(n, block)
    row = tl.program_id(0) // tiles * block
    col = tl.program_id(0) % tiles * block
    total = tl.zeros((block, block), tl.float32)
    small = tl.zeros((block, block), tl.float32)
    for start in tl.range(0, k, chunk):
        large = tl.zeros((block, block), tl.float32)
        for at in tl.range(start, tl.minimum(start + chunk, k), bk, num_stages=stages):
            x = a.load([head * m + row, at])
            x_small = a.load([head * m + row, k + at])
            y = b.load([head * b_rows + col, at]).T if turned else b.load([head * b_rows + at, col])
            y_small = b.load([head * b_rows + col, k + at]).T if turned else b.load([head * b_rows + k + at, col])
            large = tl.dot(x, y, large)
            small = tl.dot(x_small, y, small)
            small = tl.dot(x, y_small, small)
        total += large
    total += small * (1.0 / 2048.0)
    rows = row + tl.arange(0, block)
    cols = col + tl.arange(0, block)
    p = tl.load(row_exponents + head * m + rows, mask=rows < m, other=0)
    p = tl.minimum(tl.maximum(p, -250), 250)
    if turned:
        q = tl.load(col_exponents + head * n + cols, mask=cols < n, other=0)
        total *= _power(p >> 1)[:, None] * _power(q >> 1)[None, :]
        total *= _power(p - (p >> 1))[:, None] * _power(q - (q >> 1))[None, :]
        total *= scale
    else:
        total = total * _power(p >> 1)[:, None] * _power(p - (p >> 1))[:, None]
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    tl.store(c + (head.to(tl.int64) * m + rows)[:, None] * n + cols[None, :], total, mask=inside)


class ModelNew(torch.nn.Module):
    def forward(self, q, k, v):
        fits = q.dim() == 4 and q.shape == k.shape == v.shape and q.shape[2] % BLOCK == 0 and q.shape[2] <= 4096
        if not fits or q.shape[3] % BLOCK or not q.dtype == k.dtype == v.dtype == torch.float32:
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
        _pack[grid](q, rows, exponents[0], length, width, 2 * width, width, block=block, num_warps=WARPS)
        _pack[grid](k, keys, exponents[1], length, width, 2 * width, width, block=block, num_warps=WARPS)
        _pack[grid](v, values, exponents[2], length, width, width, length * width, block=block, num_warps=WARPS)
        sizes = {"block": BLOCK, "bk": BLOCK_K, "chunk": CHUNK, "stages": STAGES, "num_warps": 8}
        _product[((length // BLOCK) ** 2, heads)](
            TensorDescriptor.from_tensor(rows, [BLOCK, BLOCK_K]), TensorDescriptor.from_tensor(keys, [BLOCK, BLOCK_K]),
            exponents[0], exponents[1], s, length, length, width, length, 1 / math.sqrt(width), turned=True, **sizes,
        )  # fmt: skip
        _softmax[grid](
            s, shares, exponents[2], exponents[3], length, length,
            block=triton.next_power_of_2(length), num_warps=WARPS,
        )  # fmt: skip
        _product[(length // BLOCK * (width // BLOCK), heads)](
            TensorDescriptor.from_tensor(shares, [BLOCK, BLOCK_K]),
            TensorDescriptor.from_tensor(values, [BLOCK_K, BLOCK]),
            exponents[3], exponents[3], o, length, width, length, 2 * length, 1.0, turned=False, **sizes,
        )  # fmt: skip
        return o
