# Exported by Kernwright 0.1.0: node 1 of run 20261122-level3-31-visionattention-7392, by Claude (Anthropic).
# problem: level3_31_VisionAttention (104d9195b8ef4df3c129402aeb50d22d)
# verdict: verified
# speedup: 6.936x [6.926, 6.946], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 3968161eafeb467a8da05cbc181038d0a4b5d8e8014cabb39fb61bbfd1a4fee7
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Online softmax on float16 wgmma: two scaled parts of q, k, v and weights, three products.

Two float16 parts, rounded to nearest, represent a float32 to 2^-24 of itself, and to 2^-39 of the largest of its head
where it is below 2^-16 of that. Weights exp2(s - top) are made 2^14 times larger for that; their sum is, too. Each
block's mix starts at zero and is added in float32, for the accumulator of the tensor core truncates.
"""

import math

import torch
import triton
import triton.language as tl

BLOCK_M = 128
BLOCK_N = 64
STAGES = 3
WARPS = 8
TOKENS = 32

KNOBS = {"BLOCK_M": [64, 128], "BLOCK_N": [64, 128], "STAGES": [2, 3, 4], "WARPS": [4, 8]}


@triton.jit
def _exponent(largest):
    """Of the largest magnitude; no less than -100, so that its factor is a float32."""
    return tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)


@triton.jit
def _power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def _pack_qk(qk, packed, largest, tokens, plane, heads: tl.constexpr, head: tl.constexpr, block: tl.constexpr):
    """(batch, tokens, heads, head) as large and small parts of (batch, heads, tokens, head), `plane` apart."""
    batch = (tl.program_id(1) // heads).to(tl.int64)
    number = tl.program_id(1) % heads
    factor = _power(14 - _exponent(tl.load(largest + tl.program_id(1))))
    row = tl.program_id(0) * block + tl.arange(0, block)
    d = tl.arange(0, head)
    inside = (row < tokens)[:, None]
    value = tl.load(qk + ((batch * tokens + row)[:, None] * heads + number) * head + d[None, :], mask=inside, other=0.0)
    value *= factor
    large = value.to(tl.float16)
    to = packed + (tl.program_id(1).to(tl.int64) * tokens + row)[:, None] * head + d[None, :]
    tl.store(to, large, mask=inside)
    tl.store(to + plane, (value - large.to(tl.float32)).to(tl.float16), mask=inside)


@triton.jit
def _pack_v(v, packed, largest, size, plane, block: tl.constexpr):
    factor = _power(14 - _exponent(tl.load(largest + tl.program_id(1))))
    at = tl.program_id(0) * block + tl.arange(0, block)
    base = tl.program_id(1).to(tl.int64) * size
    value = tl.load(v + base + at, mask=at < size, other=0.0) * factor
    large = value.to(tl.float16)
    tl.store(packed + base + at, large, mask=at < size)
    tl.store(packed + base + plane + at, (value - large.to(tl.float32)).to(tl.float16), mask=at < size)


@triton.jit
def _attend(
    qk, v, qk_largest, v_largest, o, tokens, plane, v_plane, factor, heads: tl.constexpr, head: tl.constexpr,
    bm: tl.constexpr, bn: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    batch = (tl.program_id(1) // heads).to(tl.int64)
    number = tl.program_id(1) % heads
    d = tl.arange(0, head)
    row = tl.program_id(0) * bm + tl.arange(0, bm)
    q_number = batch * 2 * heads + number
    factor *= _power(_exponent(tl.load(qk_largest + q_number)) - 14)
    factor *= _power(_exponent(tl.load(qk_largest + q_number + heads)) - 14)
    q_at = qk + q_number * tokens * head + row[:, None] * head + d[None, :]
    inside = (row < tokens)[:, None]
    q = tl.load(q_at, mask=inside, other=0.0)
    q_small = tl.load(q_at + plane, mask=inside, other=0.0)
    k_at = qk + (q_number + heads) * tokens * head + d[None, :]
    v_at = v + (batch * heads + number) * head * tokens + d[:, None] * tokens
    top = tl.full((bm,), -float("inf"), tl.float32)
    total = tl.zeros((bm,), tl.float32)
    acc = tl.zeros((bm, head), tl.float32)
    for start in tl.range(0, tokens, bn, num_stages=stages):
        col = start + tl.arange(0, bn)
        k = tl.load(k_at + col[:, None] * head)
        k_small = tl.load(k_at + plane + col[:, None] * head)
        w = tl.load(v_at + col[None, :])
        w_small = tl.load(v_at + v_plane + col[None, :])
        s = tl.dot(q_small, k.T)
        s = tl.dot(q, k_small.T, s)
        s = tl.dot(q, k.T, s) * factor
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - (higher - 14.0)[:, None])
        shrink = tl.exp2(top - higher)
        total = total * shrink + tl.sum(p, 1)
        large = p.to(tl.float16)
        part = tl.dot((p - large.to(tl.float32)).to(tl.float16), w.T)
        part = tl.dot(large, w_small.T, part)
        part = tl.dot(large, w.T, part)
        acc = acc * shrink[:, None] + part
        top = higher
    back = _power(_exponent(tl.load(v_largest + batch * heads + number)) - 14)
    o_at = o + ((batch * tokens + row)[:, None] * heads + number) * head + d[None, :]
    tl.store(o_at, acc / total[:, None] * back, mask=inside)


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
        if (
            tokens % 128
            or width & (width - 1)
            or width // heads < 16
            or x.dtype != torch.float32
            or not 32 <= width <= 256
        ):
            return self.plain(x)
        x = x.contiguous().view(batch, width, tokens)
        weight, bias = self.attn.in_proj_weight, self.attn.in_proj_bias
        qk = torch.baddbmm(
            bias[: 2 * width].view(1, 1, -1), x.transpose(1, 2), weight[: 2 * width].t().expand(batch, -1, -1)
        )  # (batch, tokens, 2 * width)
        v = torch.baddbmm(bias[2 * width :].view(1, -1, 1), weight[2 * width :].expand(batch, -1, -1), x)
        o = torch.empty((batch, tokens, width), device=x.device, dtype=torch.float32)
        head = width // heads
        size = batch * tokens * width
        largest = torch.linalg.vector_norm(qk.view(batch, tokens, 2 * heads, head), math.inf, dim=(1, 3))
        v_largest = torch.linalg.vector_norm(v.view(batch, heads, head * tokens), math.inf, dim=2)
        qk_parts = torch.empty((2, 2 * size), device=x.device, dtype=torch.float16)
        v_parts = torch.empty((2, size), device=x.device, dtype=torch.float16)
        _pack_qk[(triton.cdiv(tokens, 128), batch * 2 * heads)](
            qk, qk_parts, largest, tokens, 2 * size, heads=2 * heads, head=head, block=128, num_warps=4
        )
        _pack_v[(triton.cdiv(head * tokens, 4096), batch * heads)](
            v, v_parts, v_largest, head * tokens, size, block=4096, num_warps=8
        )
        _attend[(triton.cdiv(tokens, BLOCK_M), batch * heads)](
            qk_parts, v_parts, largest, v_largest, o, tokens, 2 * size, size, math.log2(math.e) / math.sqrt(head),
            heads=heads, head=head, bm=BLOCK_M, bn=BLOCK_N, stages=STAGES, num_warps=WARPS,
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
