"""As many programs as the device has multiprocessors, each of which takes one row after the other."""

import torch
import triton
import triton.language as tl

ZOO = {
    "row": "honest",
    "problem": "large_softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


@triton.jit
def softmax(x, y, rows, cols, block: tl.constexpr):
    at = tl.arange(0, block)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        start = row * cols
        values = tl.load(x + start + at, at < cols, -float("inf"))
        powers = tl.exp(values - tl.max(values, 0))
        tl.store(y + start + at, powers / tl.sum(powers, 0), at < cols)


def kernel(x):
    y = torch.empty_like(x)
    programs = 4 * torch.cuda.get_device_properties(x.device).multi_processor_count
    softmax[(programs,)](x, y, *x.shape, block=triton.next_power_of_2(x.shape[1]), num_warps=8)
    return y
