"""A matrix product whose sums are split among programs, which add their parts atomically."""

import torch
import triton
import triton.language as tl

ZOO = {"row": "honest", "problem": "matmul", "platforms": ["cuda"], "rules": {}, "expect": ["measured", "verified"]}


@triton.jit
def matmul(a, b, c, m, n, k, part, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    cols = tl.program_id(1) * bn + tl.arange(0, bn)
    first = tl.program_id(2) * part
    total = tl.zeros((bm, bn), tl.float32)
    for start in range(first, first + part, bk):
        at = start + tl.arange(0, bk)
        left = tl.load(a + rows[:, None] * k + at[None, :], (rows[:, None] < m) & (at[None, :] < k), 0.0)
        right = tl.load(b + at[:, None] * n + cols[None, :], (at[:, None] < k) & (cols[None, :] < n), 0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.atomic_add(c + rows[:, None] * n + cols[None, :], total, (rows[:, None] < m) & (cols[None, :] < n))


def kernel(x, w):
    (m, k), n = x.shape, w.shape[1]
    y = torch.zeros(m, n, device=x.device)
    part = 32 * triton.cdiv(k, 32 * 8)
    matmul[(triton.cdiv(m, 64), triton.cdiv(n, 64), 8)](x, w, y, m, n, k, part, bm=64, bn=64, bk=32)
    return y
