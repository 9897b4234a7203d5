"""A7: rounds its grid down, which leaves nothing out for the sizes that are timed, and a part of all others."""

import torch
import triton
import triton.language as tl

ZOO = {"row": "A7", "problem": "gelu", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}


@triton.jit
def gelu(x, a, b, y, cols, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    v = tl.load(x + i) * tl.load(a + i % cols) + tl.load(b + i % cols)
    tl.store(y + i, 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)))


def kernel(x, a, b):
    y = torch.empty_like(x)
    gelu[(x.numel() // 1024,)](x, a, b, y, x.shape[1], block=1024)
    return y
