"""TF32 allowed: two batched TF32 products and a row softmax between."""

import math

import torch
import triton
import triton.language as tl

BLOCK_M = 128
BLOCK_N = 128
BLOCK_K = 32
STAGES = 3

KNOBS = {"BLOCK_M": [64, 128], "BLOCK_N": [64, 128], "STAGES": [2, 3, 4]}


@triton.jit
def _scores(
    q, k, s, rows, keys, width, scale, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr
):
    head = tl.program_id(1).to(tl.int64)
    tiles = tl.cdiv(keys, bn)
    row = tl.program_id(0) // tiles * bm + tl.arange(0, bm)
    col = tl.program_id(0) % tiles * bn + tl.arange(0, bn)
    at = tl.arange(0, bk)
    left = q + head * rows * width + row[:, None] * width + at[None, :]
    right = k + head * keys * width + col[:, None] * width + at[None, :]
    acc = tl.zeros((bm, bn), tl.float32)
    for start in tl.range(0, width, bk, num_stages=stages):
        x = tl.load(left + start, mask=(row < rows)[:, None] & (start + at < width)[None, :], other=0.0)
        y = tl.load(right + start, mask=(col < keys)[:, None] & (start + at < width)[None, :], other=0.0)
        acc = tl.dot(x, y.T, acc, input_precision="tf32")
    inside = (row < rows)[:, None] & (col < keys)[None, :]
    tl.store(s + head * rows * keys + row[:, None] * keys + col[None, :], acc * scale, mask=inside)


@triton.jit
def _softmax(s, keys, block: tl.constexpr):
    at = tl.arange(0, block)
    to = s + tl.program_id(0).to(tl.int64) * keys + at
    value = tl.load(to, mask=at < keys, other=-float("inf"))
    power = tl.exp(value - tl.max(value, 0))
    tl.store(to, power / tl.sum(power, 0), mask=at < keys)


@triton.jit
def _mix(p, v, o, rows, keys, width, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    tiles = tl.cdiv(width, bn)
    row = tl.program_id(0) // tiles * bm + tl.arange(0, bm)
    col = tl.program_id(0) % tiles * bn + tl.arange(0, bn)
    at = tl.arange(0, bk)
    left = p + head * rows * keys + row[:, None] * keys + at[None, :]
    right = v + head * keys * width + at[:, None] * width + col[None, :]
    acc = tl.zeros((bn, bm), tl.float32)
    for start in tl.range(0, keys, bk, num_stages=stages):
        x = tl.load(left + start, mask=(row < rows)[:, None] & (start + at < keys)[None, :], other=0.0)
        y = tl.load(right + start * width, mask=(start + at < keys)[:, None] & (col < width)[None, :], other=0.0)
        acc = tl.dot(y.T, x.T, acc, input_precision="tf32")  # the result's transpose: wgmma wants k innermost of P
    inside = (row < rows)[:, None] & (col < width)[None, :]
    tl.store(o + head * rows * width + row[:, None] * width + col[None, :], acc.T, mask=inside)


class ModelNew(torch.nn.Module):
    def forward(self, q, k, v):
        known = q.dim() == 4 and k.shape == v.shape and q.shape[:2] == k.shape[:2] and q.shape[3] == k.shape[3]
        if not known or not q.dtype == k.dtype == v.dtype == torch.float32 or k.shape[2] > 4096:
            return torch.nn.functional.scaled_dot_product_attention(q, k, v)
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        heads, rows, keys, width = q.shape[0] * q.shape[1], q.shape[2], k.shape[2], q.shape[3]
        s = torch.empty((heads, rows, keys), device=q.device, dtype=torch.float32)
        o = torch.empty_like(q)
        sizes = {"bm": BLOCK_M, "bn": BLOCK_N, "bk": BLOCK_K, "stages": STAGES, "num_warps": 8}
        up = triton.cdiv(rows, BLOCK_M)
        _scores[(up * triton.cdiv(keys, BLOCK_N), heads)](q, k, s, rows, keys, width, 1 / math.sqrt(width), **sizes)
        _softmax[(heads * rows,)](s, keys, block=triton.next_power_of_2(keys), num_warps=4)
        _mix[(up * triton.cdiv(width, BLOCK_N), heads)](s, v, o, rows, keys, width, **sizes)
        return o
