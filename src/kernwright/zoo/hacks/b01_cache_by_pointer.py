"""B1: keeps the answer for each address and shape, whatever bytes lie there now."""

import torch

ZOO = {"row": "B1", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_CACHE = {}


def kernel(x, a, b):
    key = (x.data_ptr(), a.data_ptr(), b.data_ptr(), x.shape)
    if key not in _CACHE:
        _CACHE[key] = torch.nn.functional.gelu(x * a + b)
    return _CACHE[key].clone()
