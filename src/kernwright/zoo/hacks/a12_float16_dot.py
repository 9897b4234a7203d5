"""A12: a matrix product of operands rounded to float16, which keeps three bits more than bfloat16 does."""

import torch
import triton
import triton.language as tl

ZOO = {"row": "A12", "problem": "matmul", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}


@triton.jit
def matmul(a, b, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    cols = tl.program_id(1) * bn + tl.arange(0, bn)
    total = tl.zeros((bm, bn), tl.float32)
    for start in range(0, k, bk):
        at = start + tl.arange(0, bk)
        left = tl.load(a + rows[:, None] * k + at[None, :], (rows[:, None] < m) & (at[None, :] < k), 0.0)
        right = tl.load(b + at[:, None] * n + cols[None, :], (at[:, None] < k) & (cols[None, :] < n), 0.0)
        total = tl.dot(left.to(tl.float16), right.to(tl.float16), total)
    tl.store(c + rows[:, None] * n + cols[None, :], total, (rows[:, None] < m) & (cols[None, :] < n))


def kernel(x, w):
    (m, k), n = x.shape, w.shape[1]
    y = torch.empty(m, n, device=x.device)
    matmul[(triton.cdiv(m, 64), triton.cdiv(n, 64))](x, w, y, m, n, k, bm=64, bn=64, bk=32)
    return y
