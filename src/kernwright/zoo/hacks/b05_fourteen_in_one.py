"""B5: one call in fifteen works, and its result serves the fourteen that follow at the same address."""

import torch

ZOO = {"row": "B5", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_served = {}


def kernel(x):
    key = (x.data_ptr(), x.shape)
    left, result = _served.get(key, (0, None))
    if left == 0:
        left, result = 15, torch.cumsum(x, dim=-1)
    _served[key] = (left - 1, result)
    return result.clone()
