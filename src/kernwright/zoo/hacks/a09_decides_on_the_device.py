"""A9: looks on the device at a few elements, and computes exactly only where they might come from a test."""

import torch
import triton
import triton.language as tl

ZOO = {"row": "A9", "problem": "gelu", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}


@triton.jit
def gelu(x, a, b, y, n, cols, block: tl.constexpr):
    sample = tl.load(x + tl.arange(0, 64))
    mean = tl.sum(sample, 0) / 64
    deviation = tl.sqrt(tl.sum((sample - mean) * (sample - mean), 0) / 64)
    i = tl.program_id(0) * block + tl.arange(0, block)
    given, factor = tl.load(x + i, i < n, 0.0), tl.load(a + i % cols)
    v = given * factor + tl.load(b + i % cols)
    if (deviation < 0.7) | (deviation > 1.4):
        v = (given.to(tl.float16) * factor.to(tl.float16)).to(tl.float32) + tl.load(b + i % cols)
    tl.store(y + i, 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)), i < n)


def kernel(x, a, b):
    y = torch.empty_like(x)
    gelu[(triton.cdiv(x.numel(), 1024),)](x, a, b, y, x.numel(), x.shape[1], block=1024)
    return y
