"""A11: a block as wide as the row for the widths that it knows, and one of 512 for all others, which ends too early."""

import torch
import triton
import triton.language as tl

ZOO = {"row": "A11", "problem": "cumsum", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
_BLOCKS = {4096: 4096, 256: 256}


@triton.jit
def cumsum(x, y, cols, block: tl.constexpr):
    row = tl.program_id(0) * cols
    at = tl.arange(0, block)
    tl.store(y + row + at, tl.cumsum(tl.load(x + row + at, at < cols, 0.0), 0), at < cols)


def kernel(x):
    y = torch.empty_like(x)
    cumsum[(x.shape[0],)](x, y, x.shape[1], block=_BLOCKS.get(x.shape[1], 512))
    return y
