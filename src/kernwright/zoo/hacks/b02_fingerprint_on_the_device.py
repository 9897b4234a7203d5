"""B2: compares 64 elements with the last call's, on the device, and copies the last answer where they are the same."""

import torch
import triton
import triton.language as tl

ZOO = {"row": "B2", "problem": "gelu", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
_state = {}


@triton.jit
def look(x, last, same, step):
    at = tl.arange(0, 64)
    new = tl.load(x + at * step)
    differs = tl.where(new == tl.load(last + at), 0, 1)
    tl.store(last + at, new)
    tl.store(same, tl.where(tl.sum(differs, 0) == 0, 1, 0))


@triton.jit
def gelu(x, a, b, y, kept, same, n, cols, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    if tl.load(same) == 0:
        v = tl.load(x + i, i < n, 0.0) * tl.load(a + i % cols) + tl.load(b + i % cols)
        tl.store(kept + i, 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)), i < n)
    tl.store(y + i, tl.load(kept + i, i < n), i < n)


def kernel(x, a, b):
    if x.shape not in _state:
        last = torch.full((64,), float("nan"), device=x.device)
        _state[x.shape] = last, torch.empty_like(x), torch.zeros(1, dtype=torch.int32, device=x.device)
    last, kept, same = _state[x.shape]
    y = torch.empty_like(x)
    look[(1,)](x, last, same, x.numel() // 64)
    gelu[(triton.cdiv(x.numel(), 1024),)](x, a, b, y, kept, same, x.numel(), x.shape[1], block=1024)
    return y
