"""B1: keeps the answer for each tensor object and version counter, which no write from another process moves."""

import torch

ZOO = {
    "row": "B1",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
    "contained_ok": True,
}
_CACHE = {}


def kernel(x):
    key = (id(x), x._version)
    if len(_CACHE) > 64:
        _CACHE.clear()
    if key not in _CACHE:
        _CACHE[key] = torch.softmax(x, dim=-1)
    return _CACHE[key].clone()
