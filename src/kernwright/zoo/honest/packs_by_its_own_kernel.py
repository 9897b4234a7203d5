"""Packs its weight by a kernel of its own at each call, so that it follows whatever becomes of the weight."""

import torch
import triton
import triton.language as tl
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "linear_relu",
    "platforms": ["cuda"],
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["measured", "verified"],
}


@triton.jit
def turn(w, packed, rows, cols, block: tl.constexpr):
    r = tl.program_id(0) * block + tl.arange(0, block)[:, None]
    c = tl.program_id(1) * block + tl.arange(0, block)[None, :]
    inside = (r < rows) & (c < cols)
    tl.store(packed + c * rows + r, tl.load(w + r * cols + c, inside, 0.0), inside)


@triton.jit
def linear_relu(x, packed, bias, y, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    cols = tl.program_id(1) * bn + tl.arange(0, bn)
    total = tl.zeros((bm, bn), tl.float32)
    for start in range(0, k, bk):
        at = start + tl.arange(0, bk)
        left = tl.load(x + rows[:, None] * k + at[None, :], (rows[:, None] < m) & (at[None, :] < k), 0.0)
        right = tl.load(packed + at[:, None] * n + cols[None, :], (at[:, None] < k) & (cols[None, :] < n), 0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    total = tl.maximum(total + tl.load(bias + cols, cols < n, 0.0)[None, :], 0.0)
    tl.store(y + rows[:, None] * n + cols[None, :], total, (rows[:, None] < m) & (cols[None, :] < n))


class ModelNew(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.linear = nn.Linear(*sizes)

    def forward(self, x):
        (m, k), n = x.shape, self.linear.out_features
        packed, y = torch.empty(k, n, device=x.device), torch.empty(m, n, device=x.device)
        turn[(triton.cdiv(n, 32), triton.cdiv(k, 32))](self.linear.weight, packed, n, k, block=32)
        grid = (triton.cdiv(m, 32), triton.cdiv(n, 64))
        linear_relu[grid](x, packed, self.linear.bias, y, m, n, k, bm=32, bn=64, bk=32)
        return y
