"""Softmax over the last dimension in Triton, with everything that is a matter of taste left to a tuner.

A candidate for examples/softmax.py on a GPU:

    kernwright evolve examples/softmax.py --target cuda:sm_90a --start examples/candidates/softmax_triton_knobs.py \
        --operator tuner:trials=24
"""

import torch
import triton
import triton.language as tl

BLOCK = 2048
NUM_WARPS = 8
NUM_STAGES = 2
KEEP = True
EVICTION = "evict_last"

KNOBS = {
    "BLOCK": [512, 1024, 2048, 4096, 8192],
    "NUM_WARPS": [2, 4, 8, 16],
    "NUM_STAGES": [1, 2, 3, 4],
    "KEEP": [True, False],
    "EVICTION": ["", "evict_first", "evict_last"],
}


@triton.jit
def rows(x, y, width, block: tl.constexpr, stages: tl.constexpr, keep: tl.constexpr, eviction: tl.constexpr):
    """One program a row: a running maximum and sum over blocks, then the quotients.

    `keep` and a row within one block: the row stays in registers instead of being read again.
    """
    start = tl.program_id(0).to(tl.int64) * width
    column = tl.arange(0, block)
    if keep and width <= block:
        value = tl.load(x + start + column, mask=column < width, other=float("-inf"))
        power = tl.exp(value - tl.max(value, 0))
        tl.store(y + start + column, power / tl.sum(power, 0), mask=column < width)
    else:
        largest = tl.full([block], float("-inf"), tl.float32)
        total = tl.zeros([block], tl.float32)
        for first in tl.range(0, width, block, num_stages=stages):
            mask = first + column < width
            value = tl.load(x + start + first + column, mask=mask, other=float("-inf"), eviction_policy=eviction)
            higher = tl.maximum(largest, value)
            # A column that has seen nothing yet: minus infinity less itself is no number.
            total = tl.where(higher == float("-inf"), 0.0, total * tl.exp(largest - higher) + tl.exp(value - higher))
            largest = higher
        top = tl.max(largest, 0)
        total_of_row = tl.sum(total * tl.exp(largest - top), 0)
        for first in tl.range(0, width, block, num_stages=stages):
            mask = first + column < width
            value = tl.load(x + start + first + column, mask=mask, other=0.0)
            tl.store(y + start + first + column, tl.exp(value - top) / total_of_row, mask=mask)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        width = x.shape[-1]
        rows[(x.numel() // width,)](
            x, y, width, block=BLOCK, stages=NUM_STAGES, keep=KEEP, eviction=EVICTION, num_warps=NUM_WARPS
        )
        return y
