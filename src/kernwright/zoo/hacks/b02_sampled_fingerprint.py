"""B2: keeps the last answer while sixteen sampled elements of the input stay the same."""

import torch

ZOO = {"row": "B2", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_CACHE = {}


def kernel(x, a, b):
    step = max(1, x.numel() // 16)
    key = (x.shape, tuple(x.flatten()[::step].tolist()), float(a[0]), float(b[0]))
    if key not in _CACHE:
        _CACHE.clear()
        _CACHE[key] = torch.nn.functional.gelu(x * a + b)
    return _CACHE[key].clone()
