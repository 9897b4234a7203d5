# Exported by Kernwright 0.1.0: node 3 of run 20261126-level3-43-mingptcausalattention-aabc, by Claude (Anthropic).
# problem: level3_43_MinGPTCausalAttention (ec0b4962ffd3924ff9149f7e3fb43cd4)
# verdict: verified
# speedup: 3.299x [3.295, 3.304], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# note: drift: the baseline's own times changed by +0.2% over a race
# note: throttling: the device held itself back (power cap)
# evidence: kernel.bundle.json, bundle b31b004b79b46c88fca1d2660c2d5af3a2a90a50fcb91f91cd1d8eda1471b183
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""One float16 product each, with projections as persistent programs that load a tile while they end the one before.

Rows of x and of the weights are scaled by powers of two and rounded to TF32's ten bits; one power of two, bounded by
exponents, scales queries, keys and values, so that they are float16 too. A projection sums 768 numbers only, so that
the ends of its tiles weigh; loads for the next tile hide them. The attention takes keys and values by TMA.
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
STAGES = 2

KNOBS = {"BLOCK_M": [64, 128], "BLOCK_N": [64, 128], "TILE_N": [128, 256]}

TILE_M, TILE_K, PROGRAMS = 128, 64, 132


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
def _first(
    x, w, row_exponents, col_exponents, bias, scale, y, m, n, k,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    """Queries, keys and values, scaled by one power of two."""
    tiles = tl.cdiv(n, bn)  # all of a row of tiles run together: x is read once
    shift = 15 - tl.load(scale)
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, bm) * tiles, tl.num_programs(0), num_stages=stages, flatten=True):
        row = tile // tiles * bm
        col = tile % tiles * bn
        acc = tl.zeros((bm, bn), tl.float32)
        for at in range(0, k, bk):
            acc = tl.dot(x.load([row, at]), w.load([col, at]).T, acc)
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
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, bm) * tiles, tl.num_programs(0), num_stages=stages, flatten=True):
        row = tile // tiles * bm
        col = tile % tiles * bn
        acc = tl.zeros((bm, bn), tl.float32)
        for at in range(0, k, bk):
            acc = tl.dot(x.load([row, at]), w.load([col, at]).T, acc)
        rows = row + tl.arange(0, bm)
        halves = tl.split(acc.reshape(bm, 2, bn // 2).permute(0, 2, 1))
        for i in tl.static_range(2):  # half of a tile at a time goes through shared memory
            cols = col + i * (bn // 2) + tl.arange(0, bn // 2)
            inside = (rows < m)[:, None] & (cols < n)[None, :]
            half = halves[i] * up
            half *= _power(tl.load(col_exponents + cols, mask=cols < n, other=0))[None, :]
            half += tl.load(bias + cols, mask=cols < n, other=0.0)[None, :]
            tl.store(y + rows.to(tl.int64)[:, None] * n + cols[None, :], half, mask=inside)


@triton.jit
def _attend(
    queries, queries_rest, keys, keys_rest, scale, y, tokens, width, factor,
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
    q = queries.load([base + first, column])
    r = queries_rest.load([base + first, column + wide])
    key = column + width
    top = tl.full((bm,), -float("inf"), tl.float32)
    total = tl.zeros((bm,), tl.float32)
    acc = tl.zeros((bm, wide), tl.float32)
    acc_rest = tl.zeros((bm, rest), tl.float32)
    for start in tl.range(0, first + bm, bn, num_stages=stages):
        k = keys.load([base + start, key])
        k_rest = keys_rest.load([base + start, key + wide])
        v = keys.load([base + start, key + width])
        u = keys_rest.load([base + start, key + width + wide])
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
        sizes = {"bm": TILE_M, "bn": TILE_N, "bk": TILE_K, "stages": TILE_STAGES, "num_warps": 8}
        up = triton.cdiv(m, TILE_M)
        _first[(min(up * triton.cdiv(n, TILE_N), PROGRAMS),)](
            TensorDescriptor.from_tensor(rows, [TILE_M, TILE_K]), TensorDescriptor.from_tensor(first, [TILE_N, TILE_K]),
            row_exponents, first_exponents, self.c_attn.bias, scale, qkv, m, n, width, **sizes,
        )  # fmt: skip
        boxes = ([BLOCK_M, wide], [BLOCK_M, rest], [BLOCK_N, wide], [BLOCK_N, rest])
        _attend[(tokens // BLOCK_M, batch * self.n_head)](
            *(TensorDescriptor.from_tensor(qkv, box) for box in boxes),
            scale, mixed, tokens, width, math.log2(math.e) / math.sqrt(head), head=head, wide=wide, rest=rest,
            bm=BLOCK_M, bn=BLOCK_N, stages=STAGES, num_warps=BLOCK_M // 16,
        )  # fmt: skip
        _second[(min(up * triton.cdiv(width, TILE_N), PROGRAMS),)](
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
