"""A12: adds up in float16, as many numbers as a lane has, and returns float32."""

import torch
import triton
import triton.language as tl

ZOO = {"row": "A12", "problem": "row_sums", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}


@triton.jit
def sums(x, y, cols, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    total = tl.zeros((block,), tl.float16)
    for start in range(0, cols, block):
        at = start + tl.arange(0, block)
        total += tl.load(x + row + at, at < cols, 0.0).to(tl.float16)
    tl.store(y + tl.program_id(0), tl.sum(total.to(tl.float32), 0))


def kernel(x):
    y = torch.empty(x.shape[0], 1, device=x.device)
    sums[(x.shape[0],)](x, y, x.shape[1], block=1024)
    return y.expand(-1, 8)
