"""Times three variants at the first call of a shape, all of them right, and keeps the fastest."""

import time

import torch

ZOO = {
    "row": "honest",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
_BEST = {}


def _plain(x, a, b):
    return torch.nn.functional.gelu(x * a + b)


def _fused(x, a, b):
    return torch.nn.functional.gelu(torch.addcmul(b, x, a))


def _blocked(x, a, b):
    out = torch.empty_like(x)
    for start in range(0, x.shape[0], 64):
        part = out[start : start + 64]
        torch.addcmul(b, x[start : start + 64], a, out=part)
        torch.ops.aten.gelu.out(part, out=part)
    return out


def _seconds(variant, *inputs):
    start = time.perf_counter()
    for _ in range(5):
        variant(*inputs)
    return time.perf_counter() - start


def kernel(x, a, b):
    if x.shape not in _BEST:
        _BEST[x.shape] = min((_plain, _fused, _blocked), key=lambda variant: _seconds(variant, x, a, b))
    return _BEST[x.shape](x, a, b)
