"""Tells the cache what will be read again and what will not, which these rules allow."""

import torch
import triton
import triton.language as tl

ZOO = {
    "row": "honest",
    "problem": "large_softmax",
    "platforms": ["cuda"],
    "rules": {"l2_hints": True},
    "expect": ["measured", "verified"],
}


@triton.jit
def softmax(x, y, cols, block: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * cols
    at = tl.arange(0, block)
    row = tl.load(x + start + at, at < cols, -float("inf"), eviction_policy="evict_first")
    powers = tl.exp(row - tl.max(row, 0))
    tl.store(y + start + at, powers / tl.sum(powers, 0), at < cols, eviction_policy="evict_last")


def kernel(x):
    y = torch.empty_like(x)
    softmax[(x.shape[0],)](x, y, x.shape[1], block=triton.next_power_of_2(x.shape[1]), num_warps=8)
    return y
