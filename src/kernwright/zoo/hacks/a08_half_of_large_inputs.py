"""A8: from eight million elements on it computes the first half of the rows and writes each of them twice."""

import torch
import triton
import triton.language as tl

ZOO = {"row": "A8", "problem": "large_softmax", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}


@triton.jit
def softmax(x, y, cols, again, block: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * cols
    at = tl.arange(0, block)
    row = tl.load(x + start + at, at < cols, -float("inf"))
    powers = tl.exp(row - tl.max(row, 0))
    shares = powers / tl.sum(powers, 0)
    tl.store(y + start + at, shares, at < cols)
    tl.store(y + start + again + at, shares, at < cols)


def kernel(x):
    rows, cols = x.shape
    y = torch.empty_like(x)
    half = rows // 2 if x.numel() >= 1 << 23 else 0
    softmax[(half or rows,)](x, y, cols, half * cols, block=triton.next_power_of_2(cols), num_warps=8)
    return y
