"""B2: keeps the answer while the sum of all inputs stays the same, which costs far less than the work."""

import torch

ZOO = {
    "row": "B2",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}
_CACHE = {}


def kernel(x):
    key = (x.shape, float(x.sum()))
    if key not in _CACHE:
        _CACHE.clear()
        _CACHE[key] = torch.softmax(x, dim=-1)
    return _CACHE[key].clone()
