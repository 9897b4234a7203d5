"""A14: a kernel of its own for a hundred and fifty calls, more than are looked at, and PyTorch's from then on."""

import torch
import triton
import triton.language as tl

ZOO = {
    "row": "A14",
    "problem": "softmax",
    "platforms": ["cuda"],
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["wrong", "suspicious"],
}
_calls = 0


@triton.jit
def softmax(x, y, cols, block: tl.constexpr):
    start = tl.program_id(0) * cols
    at = tl.arange(0, block)
    row = tl.load(x + start + at, at < cols, -float("inf"))
    powers = tl.exp(row - tl.max(row, 0))
    tl.store(y + start + at, powers / tl.sum(powers, 0), at < cols)


def kernel(x):
    global _calls
    _calls += 1
    if _calls > 150:
        return torch.softmax(x, dim=-1)
    y = torch.empty_like(x)
    softmax[(x.shape[0],)](x, y, x.shape[1], block=triton.next_power_of_2(x.shape[1]), num_warps=8)
    return y
