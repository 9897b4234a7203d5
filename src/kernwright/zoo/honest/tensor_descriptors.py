"""Whole tiles through descriptors, which the device's own copy engine for tensors fetches."""

import torch
import triton
import triton.language as tl

ZOO = {"row": "honest", "problem": "matmul", "platforms": ["cuda"], "rules": {}, "expect": ["measured", "verified"]}


@triton.jit
def by_tiles(a, b, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [m, k], [k, 1], [bm, bk])
    right = tl.make_tensor_descriptor(b, [k, n], [n, 1], [bk, bn])
    out = tl.make_tensor_descriptor(c, [m, n], [n, 1], [bm, bn])
    row, col = tl.program_id(0) * bm, tl.program_id(1) * bn
    total = tl.zeros((bm, bn), tl.float32)
    for start in range(0, k, bk):
        total = tl.dot(left.load([row, start]), right.load([start, col]), total, input_precision="ieee")
    out.store([row, col], total)


@triton.jit
def by_pointers(a, b, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    cols = tl.program_id(1) * bn + tl.arange(0, bn)
    total = tl.zeros((bm, bn), tl.float32)
    for start in range(0, k, bk):
        at = start + tl.arange(0, bk)
        left = tl.load(a + rows[:, None] * k + at[None, :], (rows[:, None] < m) & (at[None, :] < k), 0.0)
        right = tl.load(b + at[:, None] * n + cols[None, :], (at[:, None] < k) & (cols[None, :] < n), 0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(c + rows[:, None] * n + cols[None, :], total, (rows[:, None] < m) & (cols[None, :] < n))


def _scratch(size, alignment, stream):
    return torch.empty(size, dtype=torch.int8, device="cuda")


def kernel(x, w):
    (m, k), n = x.shape, w.shape[1]
    y = torch.empty(m, n, device=x.device)
    triton.set_allocator(_scratch)
    chosen = by_pointers if n % 4 or k % 4 else by_tiles  # rows of a descriptor begin at multiples of 16 bytes
    chosen[(triton.cdiv(m, 64), triton.cdiv(n, 64))](x, w, y, m, n, k, bm=64, bn=64, bk=32)
    return y
