# Exported by Kernwright 0.1.0: node 2 of run 20261126-level3-31-visionattention-0562, by Claude (Anthropic).
# problem: level3_31_VisionAttention (6fa69bda1e78caf24b37f00b5cfb7268)
# verdict: verified
# speedup: 11.106x [8.596, 14.347], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# note: candidate counts 529.6 µs more than the 1319.0 µs that its calls show: in long messages of up to 4 calls each takes 1212.8 ± 730.5 µs (workload 'default')
# evidence: kernel.bundle.json, bundle f981c15f9300a46e4e4a1d114258d877b6be0db0c94051dc7be6136d737aab1e
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Attention in one float16 product for scores and one for the mix, without a running maximum; a quarter of the powers
by a polynomial.

The longest query times the longest key bounds all scores; where the bound is below 12 (of the exponent of 2), weights
lie within 2^-10 and 2^14 without a maximum, else the same kernel takes the online form. Products are a third of what
exponentials cost then, so every fourth of these is computed on FMA units (to 4e-6) beside the others.
"""

import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_M = 128
BLOCK_N = 64
POLYNOMIALS = 1

KNOBS = {"BLOCK_M": [128, 256], "BLOCK_N": [64, 128], "POLYNOMIALS": [0, 1]}
"""POLYNOMIALS: of four powers of two."""

STAGES, CHUNK = 3, 4096
TOKENS, PIECES = 32, 128


@triton.jit
def _power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def _power_of_two(x, polynomials: tl.constexpr):
    """2^x of numbers above -126; with `polynomials`, every fourth of a thread without its special function unit."""
    if not polynomials:
        return tl.exp2(x)
    return tl.inline_asm_elementwise(
        """
        {
            .reg .f32 t, f, r;
            .reg .b32 n, i;
            ex2.approx.ftz.f32 $0, $4;
            ex2.approx.ftz.f32 $1, $5;
            ex2.approx.ftz.f32 $2, $6;
            add.rn.f32 t, $7, 0f4B400000;
            sub.rn.f32 f, t, 0f4B400000;
            sub.rn.f32 f, $7, f;
            fma.rn.f32 r, f, 0f3C1CCBEB, 0f3D650A21;
            fma.rn.f32 r, r, f, 0f3E76036D;
            fma.rn.f32 r, r, f, 0f3F31706E;
            fma.rn.f32 r, r, f, 0f3F7FFFF4;
            mov.b32 n, t;
            shl.b32 n, n, 23;
            mov.b32 i, r;
            add.s32 i, i, n;
            mov.b32 $3, i;
        }
        """,
        "=r,=r,=r,=r,r,r,r,r",
        [x],
        dtype=tl.float32,
        is_pure=True,
        pack=4,
    )


@triton.jit
def _largest(x, largest, size, block: tl.constexpr):
    top = tl.zeros((block,), tl.float32)
    for start in tl.range(tl.program_id(0) * block, size, tl.num_programs(0) * block, num_stages=4):
        at = start + tl.arange(0, block)
        top = tl.maximum(top, tl.abs(tl.load(x + at, mask=at < size, other=0.0)))
    tl.store(largest + tl.program_id(0), tl.max(top, 0))


@triton.jit
def _project(
    x, weight, bias, largest, scales, norms, q, k, v, tokens, pieces: tl.constexpr,
    width: tl.constexpr, head: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """q and k: rows of (batch, heads, tokens), v: columns of these, each scaled by one power of two.

    `norms`: (q or k, batch, heads, blocks), the largest square of a row's length.
    """
    part = tl.program_id(1)
    batch = tl.program_id(2).to(tl.int64)
    at = tl.program_id(0) * block + tl.arange(0, block)
    channel = tl.arange(0, width)
    w = tl.load(weight + (part * width + channel)[:, None] * width + channel[None, :])
    b = tl.load(bias + part * width + channel)
    bound = tl.max(tl.sum(tl.abs(w), 1), 0) * tl.max(tl.load(largest + tl.arange(0, pieces)), 0) + tl.max(tl.abs(b), 0)
    scale = tl.minimum(tl.maximum((bound.to(tl.int32, bitcast=True) >> 23) - 127, -100), 100) - 13
    if (tl.program_id(0) == 0) & (batch == 0):
        tl.store(scales + part, scale)
    inside = (at < tokens)[None, :]
    value = tl.load(x + (batch * width + channel)[:, None] * tokens + at[None, :], mask=inside, other=0.0)
    value = (tl.dot(w, value, input_precision="tf32x3") + b[:, None]) * _power(-scale)
    half = value.to(tl.float16)
    heads: tl.constexpr = width // head
    number = batch * heads + channel // head
    row = ((number[:, None] * tokens + at[None, :]) * head) + (channel % head)[:, None]
    if part < 2:
        square = tl.sum(tl.reshape(tl.where(inside, value * value, 0.0), (heads, head, block)), 1)
        to = ((part * tl.num_programs(2) + batch) * heads + tl.arange(0, heads)) * tl.num_programs(0)
        tl.store(norms + to + tl.program_id(0), tl.max(square, 1))
    if part == 0:
        tl.store(q + row, half, mask=inside)
    elif part == 1:
        tl.store(k + row, half, mask=inside)
    else:
        tl.store(v + (number * head + channel % head)[:, None] * tokens + at[None, :], half, mask=inside)


@triton.jit
def _attend(
    q, k, v, scales, norms, o, tokens, blocks, factor, heads: tl.constexpr, head: tl.constexpr, bm: tl.constexpr,
    bn: tl.constexpr, many: tl.constexpr, chunk: tl.constexpr, polynomials: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(1)
    first = tl.program_id(0) * bm
    base = number * tokens
    factor *= _power(tl.load(scales)) * _power(tl.load(scales + 1))
    factor = tl.maximum(factor, 1e-37)  # for 0 times infinity is none
    query = q.load([base + first, 0])
    total = tl.zeros((bm,), tl.float32)
    mixed = tl.zeros((bm, head), tl.float32)
    at = tl.arange(0, many)
    squares = tl.load(norms + number * blocks + at, mask=at < blocks, other=0.0)
    k_squares = tl.load(norms + (tl.num_programs(1) + number) * blocks + at, mask=at < blocks, other=0.0)
    # No score is larger than the product of the longest query and the longest key, both before rounding.
    bound = tl.sqrt(tl.max(squares, 0)) * tl.sqrt(tl.max(k_squares, 0)) * factor * 1.002
    lift = 14.0 - bound
    if bound < 12.0:  # a weight is at least 2^-10 then: no maximum is needed
        for begin in range(0, tokens, chunk):  # sums leave the tensor core, which truncates them, now and then
            acc = tl.zeros((bm, head), tl.float32)
            for start in tl.range(begin, tl.minimum(begin + chunk, tokens), bn, num_stages=stages):
                s = tl.dot(query, k.load([base + start, 0]).T)
                p = _power_of_two(s * factor + lift, polynomials)
                total += tl.sum(p, 1)
                acc = tl.dot(p.to(tl.float16), v.load([number * head, start]).T, acc)
            mixed += acc
    else:
        top = tl.full((bm,), -float("inf"), tl.float32)
        for start in tl.range(0, tokens, bn, num_stages=stages):
            s = tl.dot(query, k.load([base + start, 0]).T)
            higher = tl.maximum(top, tl.max(s, 1) * factor)
            p = tl.exp2(tl.minimum(s * factor - (higher - 10.0)[:, None], 15.0))
            shrink = tl.exp2(top - higher)
            total = total * shrink + tl.sum(p, 1)
            mixed = tl.dot(p.to(tl.float16), v.load([number * head, start]).T, mixed * shrink[:, None])
            top = higher
    mixed *= _power(tl.load(scales + 2))
    row = first + tl.arange(0, bm)
    batch = (number // heads).to(tl.int64)
    o_at = o + ((batch * tokens + row)[:, None] * heads + number % heads) * head + tl.arange(0, head)[None, :]
    tl.store(o_at, mixed / total[:, None])


@triton.jit
def _tail(
    o, weight, bias, x, gain, shift, y, tokens, eps, width: tl.constexpr, block: tl.constexpr, precision: tl.constexpr
):
    """Projection, residual and layer norm of some tokens, stored with channels outside."""
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < tokens
    channel = tl.arange(0, width)
    batch = tl.program_id(1).to(tl.int64) * tokens * width
    value = tl.load(o + batch + at[:, None] * width + channel[None, :], mask=inside[:, None], other=0.0)
    w = tl.load(weight + channel[:, None] * width + channel[None, :])
    old = tl.load(x + batch + channel[:, None] * tokens + at[None, :], mask=inside[None, :], other=0.0)
    new = tl.dot(w, value.T, input_precision=precision) + tl.load(bias + channel)[:, None] + old
    new -= tl.sum(new, 0)[None, :] / width
    new *= 1.0 / tl.sqrt(tl.sum(new * new, 0) / width + eps)[None, :]
    new = new * tl.load(gain + channel)[:, None] + tl.load(shift + channel)[:, None]
    tl.store(y + batch + channel[:, None] * tokens + at[None, :], new, mask=inside[None, :])


class ModelNew(torch.nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.attn = torch.nn.MultiheadAttention(embed_dim, num_heads)
        self.norm = torch.nn.LayerNorm(embed_dim)

    def forward(self, x):
        batch, width, high, wide = x.shape
        tokens, heads = high * wide, self.attn.num_heads
        head = width // heads
        if tokens % BLOCK_M or width & (width - 1) or head < 16 or x.dtype != torch.float32 or not 32 <= width <= 128:
            return self.plain(x)
        x = x.contiguous().view(batch, width, tokens)
        half = {"device": x.device, "dtype": torch.float16}
        q, k = torch.empty((2, batch * heads * tokens, head), **half).unbind()
        v = torch.empty((batch * heads * head, tokens), **half)
        o = torch.empty((batch, tokens, width), device=x.device, dtype=torch.float32)
        largest = torch.empty(PIECES, device=x.device, dtype=torch.float32)
        scales = torch.empty(3, device=x.device, dtype=torch.int32)
        blocks = triton.cdiv(tokens, 64)
        norms = torch.empty(2 * batch * heads * blocks, device=x.device, dtype=torch.float32)
        _largest[(PIECES,)](x, largest, x.numel(), block=2048, num_warps=8)
        _project[(blocks, 3, batch)](
            x, self.attn.in_proj_weight, self.attn.in_proj_bias, largest, scales, norms, q, k, v, tokens,
            pieces=PIECES, width=width, head=head, block=64, num_warps=8,
        )  # fmt: skip
        shapes = ((q, BLOCK_M, head), (k, BLOCK_N, head), (v, head, BLOCK_N))
        _attend[(tokens // BLOCK_M, batch * heads)](
            *(TensorDescriptor.from_tensor(t, [rows, cols]) for t, rows, cols in shapes),
            scales, norms, o, tokens, blocks, math.log2(math.e) / math.sqrt(head),
            heads=heads, head=head, bm=BLOCK_M, bn=BLOCK_N, many=triton.next_power_of_2(blocks), chunk=CHUNK,
            polynomials=POLYNOMIALS if x.device.type != "cpu" else 0, stages=STAGES, num_warps=BLOCK_M // 16,
        )  # fmt: skip
        y = torch.empty_like(x)
        _tail[(triton.cdiv(tokens, TOKENS), batch)](
            o, self.attn.out_proj.weight, self.attn.out_proj.bias, x, self.norm.weight, self.norm.bias, y,
            tokens, self.norm.eps, width=width, block=TOKENS, precision="tf32x3", num_warps=8,
        )  # fmt: skip
        return y.view(batch, width, high, wide)

    def plain(self, x):
        flat = x.flatten(2).permute(2, 0, 1)
        return self.norm(self.attn(flat, flat, flat)[0] + flat).permute(1, 2, 0).view(x.shape)
