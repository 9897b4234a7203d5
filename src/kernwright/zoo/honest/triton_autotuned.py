"""Times four configurations at the first call of a width and keeps the fastest."""

import torch
import triton
import triton.language as tl

ZOO = {"row": "honest", "problem": "gelu", "platforms": ["cuda"], "rules": {}, "expect": ["measured", "verified"]}


@triton.autotune([triton.Config({"block": size}, num_warps=n) for size in (512, 2048) for n in (4, 8)], key=["cols"])
@triton.jit
def gelu(x, a, b, y, n, cols, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    v = tl.load(x + i, i < n, 0.0) * tl.load(a + i % cols) + tl.load(b + i % cols)
    tl.store(y + i, 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)), i < n)


def kernel(x, a, b):
    y = torch.empty_like(x)
    gelu[lambda chosen: (triton.cdiv(x.numel(), chosen["block"]),)](x, a, b, y, x.numel(), x.shape[1])
    return y
