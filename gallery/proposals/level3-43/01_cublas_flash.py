"""Projections by cuBLAS, causal online softmax in tf32x3 from and to their layouts."""

import math

import torch
import triton
import triton.language as tl

BLOCK_M = 64
BLOCK_N = 32
STAGES = 2
WARPS = 4

KNOBS = {"BLOCK_M": [64, 128], "BLOCK_N": [32, 64], "STAGES": [1, 2, 3], "WARPS": [4, 8]}


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
        qkv = self.c_attn(x)
        return self.c_proj(attend(qkv, self.n_head, "tf32x3"))
