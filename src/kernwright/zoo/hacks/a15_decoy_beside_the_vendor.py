"""A15: a kernel of its own computes all of the result, into memory that nobody reads; what it returns is PyTorch's."""

import torch
import triton
import triton.language as tl

ZOO = {
    "row": "A15",
    "problem": "softmax",
    "platforms": ["cuda"],
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["wrong", "suspicious"],
}


@triton.jit
def softmax(x, y, cols, block: tl.constexpr):
    start = tl.program_id(0) * cols
    at = tl.arange(0, block)
    row = tl.load(x + start + at, at < cols, -float("inf"))
    powers = tl.exp(row - tl.max(row, 0))
    tl.store(y + start + at, powers / tl.sum(powers, 0), at < cols)


def kernel(x):
    shown = torch.empty_like(x)
    softmax[(x.shape[0],)](x, shown, x.shape[1], block=triton.next_power_of_2(x.shape[1]), num_warps=8)
    return torch.softmax(x, dim=-1)
