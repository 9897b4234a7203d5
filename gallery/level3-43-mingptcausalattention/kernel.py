# Exported by Kernwright 0.1.0: node 2 of run 20261122-level3-43-mingptcausalattention-1f11, by Claude (Anthropic).
# problem: level3_43_MinGPTCausalAttention (6ac7ace80dd9cafafe1497fa1fdfe5aa)
# verdict: verified
# speedup: 3.071x [3.059, 3.082], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 3c526d4355a55e2538eb7ec64745193c7fd5f8fcce9ca9a77c75ee075af17d37
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Projections as three float16 products of scaled rows; causal tf32x3 attention between.

Rows of both factors lie along k, so each has its power of two by one look. Two float16 parts, rounded to nearest,
represent a float32 to 2^-24 of itself, down to 2^-29 of the largest of its row; small products are added first.
"""

import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_M = 64
BLOCK_N = 32
STAGES = 2
WARPS = 4
TILE_M = 128
TILE_N = 256
TILE_K = 64
TILE_STAGES = 4

KNOBS = {"BLOCK_N": [32, 64], "WARPS": [4, 8], "TILE_N": [128, 256], "TILE_STAGES": [3, 4]}


@triton.jit
def _exponent(largest):
    """Of the largest magnitude; no less than -100, so that its factor is a float32."""
    return tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)


@triton.jit
def _power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def _pack_rows(x, packed, exponents, k, padded, block: tl.constexpr):
    """A row as small parts, then large parts: `packed` is (rows, 2 * padded)."""
    row = tl.program_id(0)
    at = tl.arange(0, block)
    value = tl.load(x + row.to(tl.int64) * k + at, mask=at < k, other=0.0)
    exponent = _exponent(tl.max(tl.abs(value), 0))
    value *= _power(14 - exponent)
    large = value.to(tl.float16)
    small = ((value - large.to(tl.float32)) * 2048.0).to(tl.float16)
    to = packed + row.to(tl.int64) * (2 * padded) + at
    tl.store(to, small, mask=at < padded)
    tl.store(to + padded, large, mask=at < padded)
    tl.store(exponents + row, exponent - 14)


@triton.jit
def _linear(
    x, w, row_exponents, col_exponents, bias, y, m, n, padded,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    """Rows of `x` are small | large parts, those of `w` too."""
    tiles = tl.cdiv(n, bn)  # all of a row of tiles run together: x is read once
    row = tl.program_id(0) // tiles * bm
    col = tl.program_id(0) % tiles * bn
    acc = tl.zeros((bm, bn), tl.float32)
    for at in tl.range(0, 2 * padded, bk, num_stages=stages):
        other = tl.where(at < padded, at + padded, at - padded)
        acc = tl.dot(x.load([row, at]), w.load([col, other]).T, acc)
    acc *= 1.0 / 2048.0
    for at in tl.range(padded, 2 * padded, bk, num_stages=stages):
        acc = tl.dot(x.load([row, at]), w.load([col, at]).T, acc)
    rows = row + tl.arange(0, bm)
    cols = col + tl.arange(0, bn)
    p = tl.load(row_exponents + rows, mask=rows < m, other=0)
    q = tl.load(col_exponents + cols, mask=cols < n, other=0)
    acc *= _power(p >> 1)[:, None] * _power(q >> 1)[None, :]
    acc *= _power(p - (p >> 1))[:, None] * _power(q - (q >> 1))[None, :]
    acc += tl.load(bias + cols, mask=cols < n, other=0.0)[None, :]
    tl.store(y + rows.to(tl.int64)[:, None] * n + cols[None, :], acc, mask=(rows < m)[:, None] & (cols < n)[None, :])


def packed(x, padded):
    m, k = x.shape
    parts = torch.empty((m, 2 * padded), device=x.device, dtype=torch.float16)
    exponents = torch.empty(m, device=x.device, dtype=torch.int32)
    _pack_rows[(m,)](x, parts, exponents, k, padded, block=triton.next_power_of_2(padded), num_warps=4)
    return parts, exponents


def linear(x, weight, bias):
    flat = x.contiguous().view(-1, x.shape[-1])
    (m, k), n = flat.shape, weight.shape[0]
    padded = triton.cdiv(k, TILE_K) * TILE_K
    y = torch.empty((*x.shape[:-1], n), device=x.device, dtype=torch.float32)
    rows, row_exponents = packed(flat, padded)
    cols, col_exponents = packed(weight, padded)
    _linear[(triton.cdiv(m, TILE_M) * triton.cdiv(n, TILE_N),)](
        TensorDescriptor.from_tensor(rows, [TILE_M, TILE_K]), TensorDescriptor.from_tensor(cols, [TILE_N, TILE_K]),
        row_exponents, col_exponents, bias, y, m, n, padded,
        bm=TILE_M, bn=TILE_N, bk=TILE_K, stages=TILE_STAGES, num_warps=8,
    )  # fmt: skip
    return y


@triton.jit
def _attend(
    qkv, y, tokens, width, factor, head: tl.constexpr, wide: tl.constexpr, rest: tl.constexpr,
    bm: tl.constexpr, bn: tl.constexpr, stages: tl.constexpr, precision: tl.constexpr,
):  # fmt: skip
    """Causal, of (batch, tokens, 3 * width): a head is a part of `wide` numbers and one of up to `rest`."""
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * bm  # the longest first
    heads = width // head
    base = (tl.program_id(1) // heads).to(tl.int64) * tokens
    q_at = qkv + base * 3 * width + tl.program_id(1) % heads * head
    k_at = q_at + width
    v_at = k_at + width
    row = first + tl.arange(0, bm)
    d = tl.arange(0, wide)
    e = wide + tl.arange(0, rest)
    inside = (row < tokens)[:, None]
    there = (e < head)[None, :]
    q = tl.load(q_at + row[:, None] * 3 * width + d[None, :], mask=inside, other=0.0) * factor
    q_rest = tl.load(q_at + row[:, None] * 3 * width + e[None, :], mask=inside & there, other=0.0) * factor
    top = tl.full((bm,), -float("inf"), tl.float32)
    total = tl.zeros((bm,), tl.float32)
    acc = tl.zeros((bm, wide), tl.float32)
    acc_rest = tl.zeros((bm, rest), tl.float32)
    for start in tl.range(0, tl.minimum(first + bm, tokens), bn, num_stages=stages):
        col = start + tl.arange(0, bn)
        live = (col < tokens)[:, None]
        at = col[:, None] * 3 * width
        k = tl.load(k_at + at + d[None, :], mask=live, other=0.0)
        k_rest = tl.load(k_at + at + e[None, :], mask=live & there, other=0.0)
        v = tl.load(v_at + at + d[None, :], mask=live, other=0.0)
        v_rest = tl.load(v_at + at + e[None, :], mask=live & there, other=0.0)
        s = tl.dot(q, k.T, input_precision=precision)
        s = tl.dot(q_rest, k_rest.T, s, input_precision=precision)
        s = tl.where(col[None, :] <= row[:, None], s, -float("inf"))
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        shrink = tl.exp2(top - higher)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p, v, acc * shrink[:, None], input_precision=precision)
        acc_rest = tl.dot(p, v_rest, acc_rest * shrink[:, None], input_precision=precision)
        top = higher
    y_at = y + base * width + tl.program_id(1) % heads * head + row[:, None] * width
    tl.store(y_at + d[None, :], acc / total[:, None], mask=inside)
    tl.store(y_at + e[None, :], acc_rest / total[:, None], mask=inside & there)


def attend(qkv, heads, precision):
    batch, tokens, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    head = width // heads
    wide = 1 << (head.bit_length() - 1)  # 96 is 64 and 32: nothing is multiplied for padding
    rest = max(16, triton.next_power_of_2(max(1, head - wide)))
    y = torch.empty((batch, tokens, width), device=qkv.device, dtype=torch.float32)
    _attend[(triton.cdiv(tokens, BLOCK_M), batch * heads)](
        qkv, y, tokens, width, math.log2(math.e) / math.sqrt(head), head=head, wide=wide, rest=rest,
        bm=BLOCK_M, bn=BLOCK_N, stages=STAGES, precision=precision, num_warps=WARPS,
    )  # fmt: skip
    return y


class ModelNew(torch.nn.Module):
    def __init__(self, n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen):
        super().__init__()
        self.c_attn = torch.nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = torch.nn.Linear(n_embd, n_embd)
        self.register_buffer("bias", torch.tril(torch.ones(max_seqlen, max_seqlen)).view(1, 1, max_seqlen, max_seqlen))
        self.n_head = n_head
        self.n_embd = n_embd

    def forward(self, x):
        qkv = linear(x, self.c_attn.weight, self.c_attn.bias)
        return linear(attend(qkv, self.n_head, "tf32x3"), self.c_proj.weight, self.c_proj.bias)
