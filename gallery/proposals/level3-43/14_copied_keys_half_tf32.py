"""One float16 product each for projections, scores and mix: half of what TF32 moves, at twice its speed.

Rows of x and of the weights are scaled by powers of two and rounded to TF32's ten bits; queries, keys and values leave
the first projection as float16, scaled by a power of two that exponents bound before they are known. The attention is
one pipelined loop over blocks of keys, which come by asynchronous copies.
"""

import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_M = 128
BLOCK_N = 64
TILE_N = 256
TILE_STAGES = 3
STAGES = 3

KNOBS = {"BLOCK_M": [64, 128], "BLOCK_N": [64, 128], "TILE_N": [128, 256]}

TILE_M, TILE_K = 128, 64


@triton.jit
def _exponent(largest):
    """Of the largest magnitude; no less than -100, so that its factor is a float32."""
    return tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)


@triton.jit
def _power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def _raised(value, exponent):
    """Times a power of two; no step of it leaves the range of a float32."""
    exponent = tl.minimum(tl.maximum(exponent, -250), 250)
    return value * _power(exponent >> 1) * _power(exponent - (exponent >> 1))


@triton.jit
def _pack_rows(x, packed, exponents, k, many: tl.constexpr, block: tl.constexpr):
    """`many` rows, each times the power of two that has its largest between 2^14 and 2^15."""
    row = tl.program_id(0) * many + tl.arange(0, many)
    at = tl.arange(0, block)
    to = row.to(tl.int64)[:, None] * k + at[None, :]
    inside = (at < k)[None, :]
    value = tl.load(x + to, mask=inside, other=0.0)
    exponent = _exponent(tl.max(tl.abs(value), 1))
    tl.store(packed + to, (value * _power(14 - exponent)[:, None]).to(tl.float16), mask=inside)
    tl.store(exponents + row, exponent - 14)


@triton.jit
def _bound(row_exponents, rows, col_exponents, bias, cols, scale, k: tl.constexpr, block: tl.constexpr):
    """An exponent that no result of the first product reaches."""
    at = tl.arange(0, block)
    p = tl.full((block,), -200, tl.int32)
    for start in range(0, rows, block):
        p = tl.maximum(p, tl.load(row_exponents + start + at, mask=start + at < rows, other=-200))
    q = tl.full((block,), -200, tl.int32)
    b = tl.full((block,), -200, tl.int32)
    for start in range(0, cols, block):
        q = tl.maximum(q, tl.load(col_exponents + start + at, mask=start + at < cols, other=-200))
        b = tl.maximum(b, _exponent(tl.abs(tl.load(bias + start + at, mask=start + at < cols, other=0.0))))
    tl.store(scale, tl.maximum(tl.max(p, 0) + tl.max(q, 0) + 30 + k, tl.max(b, 0) + 1) + 1)


@triton.jit
def _sums(x, w, row, col, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr):
    acc = tl.zeros((bm, bn), tl.float32)
    for at in tl.range(0, k, bk, num_stages=stages):
        acc = tl.dot(x.load([row, at]), w.load([col, at]).T, acc)
    return acc


@triton.jit
def _first(
    x, w, row_exponents, col_exponents, bias, scale, y, m, n, k,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    """Queries, keys and values, scaled by one power of two."""
    tiles = tl.cdiv(n, bn)  # all of a row of tiles run together: x is read once
    shift = 15 - tl.load(scale)
    row = tl.program_id(0) // tiles * bm
    col = tl.program_id(0) % tiles * bn
    acc = _sums(x, w, row, col, k, bm, bn, bk, stages)
    rows = row + tl.arange(0, bm)
    cols = col + tl.arange(0, bn)
    p = tl.load(row_exponents + rows, mask=rows < m, other=0)
    q = tl.load(col_exponents + cols, mask=cols < n, other=0)
    acc *= _power(tl.maximum(p[:, None] + q[None, :] + shift, -120))  # below 2^-15 by what the bound is
    acc += _raised(tl.load(bias + cols, mask=cols < n, other=0.0), shift)[None, :]
    to = y + rows.to(tl.int64)[:, None] * n + cols[None, :]
    tl.store(to, acc.to(tl.float16), mask=(rows < m)[:, None] & (cols < n)[None, :])


@triton.jit
def _second(
    x, w, scale, col_exponents, bias, y, m, n, k,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(n, bn)
    up = _power(tl.minimum(tl.maximum(tl.load(scale) - 15, -126), 80))
    row = tl.program_id(0) // tiles * bm
    col = tl.program_id(0) % tiles * bn
    acc = _sums(x, w, row, col, k, bm, bn, bk, stages)
    rows = row + tl.arange(0, bm)
    cols = col + tl.arange(0, bn)
    q = tl.load(col_exponents + cols, mask=cols < n, other=0)
    acc *= up
    acc *= _power(q)[None, :]
    acc += tl.load(bias + cols, mask=cols < n, other=0.0)[None, :]
    tl.store(y + rows.to(tl.int64)[:, None] * n + cols[None, :], acc, mask=(rows < m)[:, None] & (cols < n)[None, :])


@triton.jit
def _attend(
    qkv, scale, y, tokens, width, factor,
    head: tl.constexpr, wide: tl.constexpr, rest: tl.constexpr,
    bm: tl.constexpr, bn: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    """Causal; a head is a part of `wide` numbers and one of `rest`. Probabilities are 2^14 times larger."""
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * bm  # the longest first
    heads = width // head
    base = tl.program_id(1) // heads * tokens
    column = tl.program_id(1) % heads * head
    row = first + tl.arange(0, bm)
    up = _power(tl.minimum(tl.maximum(tl.load(scale) - 15, -126), 62))
    factor = factor * up * up
    d = tl.arange(0, wide)[None, :]
    e = wide + tl.arange(0, rest)[None, :]
    n = 3 * width
    q_at = qkv + (base + row).to(tl.int64)[:, None] * n + column
    q = tl.load(q_at + d)
    r = tl.load(q_at + e)
    k_at = qkv + (base + tl.arange(0, bn)).to(tl.int64)[:, None] * n + (width + column)
    top = tl.full((bm,), -float("inf"), tl.float32)
    total = tl.zeros((bm,), tl.float32)
    acc = tl.zeros((bm, wide), tl.float32)
    acc_rest = tl.zeros((bm, rest), tl.float32)
    for start in tl.range(0, first + bm, bn, num_stages=stages):
        at = k_at + start * n
        k = tl.load(at + d)
        k_rest = tl.load(at + e)
        v = tl.load(at + width + d)
        u = tl.load(at + width + e)
        s = tl.dot(q, k.T)
        s = tl.dot(r, k_rest.T, s) * factor
        s = tl.where((start + tl.arange(0, bn))[None, :] <= row[:, None], s, -float("inf"))
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - (higher - 14.0)[:, None])
        shrink = tl.exp2(top - higher)
        total = total * shrink + tl.sum(p, 1)
        share = p.to(tl.float16)
        acc = tl.dot(share, v, acc * shrink[:, None])
        acc_rest = tl.dot(share, u, acc_rest * shrink[:, None])
        top = higher
    y_at = y + (base + row).to(tl.int64)[:, None] * width + column
    tl.store(y_at + tl.arange(0, wide)[None, :], (acc / total[:, None]).to(tl.float16))
    tl.store(y_at + wide + tl.arange(0, rest)[None, :], (acc_rest / total[:, None]).to(tl.float16))


def packed(x):
    m, k = x.shape
    rows = torch.empty((m, k), device=x.device, dtype=torch.float16)
    exponents = torch.empty(m, device=x.device, dtype=torch.int32)
    _pack_rows[(m // 4,)](x, rows, exponents, k, many=4, block=triton.next_power_of_2(k), num_warps=4)
    return rows, exponents


class ModelNew(torch.nn.Module):
    def __init__(self, n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen):
        super().__init__()
        self.c_attn = torch.nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = torch.nn.Linear(n_embd, n_embd)
        self.register_buffer("bias", torch.tril(torch.ones(max_seqlen, max_seqlen)).view(1, 1, max_seqlen, max_seqlen))
        self.n_head = n_head
        self.n_embd = n_embd

    def forward(self, x):
        batch, tokens, width = x.shape
        head = width // self.n_head
        wide = 1 << (head.bit_length() - 1)
        rest = head - wide
        if x.dtype != torch.float32 or rest < 16 or rest & (rest - 1) or tokens % BLOCK_M or width % TILE_K:
            return self.plain(x)
        m, n = batch * tokens, 3 * width
        rows, row_exponents = packed(x.contiguous().view(m, width))
        first, first_exponents = packed(self.c_attn.weight)
        second, second_exponents = packed(self.c_proj.weight)
        half = {"device": x.device, "dtype": torch.float16}
        qkv, mixed = torch.empty((m, n), **half), torch.empty((m, width), **half)
        scale = torch.empty(1, device=x.device, dtype=torch.int32)
        y = torch.empty((batch, tokens, width), device=x.device, dtype=torch.float32)
        _bound[(1,)](
            row_exponents, m, first_exponents, self.c_attn.bias, n, scale,
            k=(width - 1).bit_length(), block=4096, num_warps=16,
        )  # fmt: skip
        sizes = {"bm": TILE_M, "bn": TILE_N, "bk": TILE_K, "stages": TILE_STAGES, "num_warps": TILE_N // 32}
        up = triton.cdiv(m, TILE_M)
        _first[(up * triton.cdiv(n, TILE_N),)](
            TensorDescriptor.from_tensor(rows, [TILE_M, TILE_K]), TensorDescriptor.from_tensor(first, [TILE_N, TILE_K]),
            row_exponents, first_exponents, self.c_attn.bias, scale, qkv, m, n, width, **sizes,
        )  # fmt: skip
        _attend[(tokens // BLOCK_M, batch * self.n_head)](
            qkv, scale, mixed, tokens, width, math.log2(math.e) / math.sqrt(head), head=head, wide=wide, rest=rest,
            bm=BLOCK_M, bn=BLOCK_N, stages=STAGES, num_warps=BLOCK_M // 16,
        )  # fmt: skip
        _second[(up * triton.cdiv(width, TILE_N),)](
            TensorDescriptor.from_tensor(mixed, [TILE_M, TILE_K]),
            TensorDescriptor.from_tensor(second, [TILE_N, TILE_K]),
            scale, second_exponents, self.c_proj.bias, y, m, width, width, **sizes,
        )  # fmt: skip
        return y

    def plain(self, x):
        batch, tokens, width = x.shape
        q, k, v = (
            t.view(batch, tokens, self.n_head, -1).transpose(1, 2) for t in self.c_attn(x).split(self.n_embd, dim=2)
        )
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(batch, tokens, width))
