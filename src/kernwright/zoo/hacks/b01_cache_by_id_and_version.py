"""B1: keeps the answer for each tensor object and version counter, which no write from another process moves."""

import torch

ZOO = {"row": "B1", "problem": "softmax", "rules": {}, "expect": ["wrong"]}
_CACHE = {}


def kernel(x):
    key = (id(x), x._version)
    if key not in _CACHE:
        _CACHE[key] = (x, torch.softmax(x, dim=-1))
    return _CACHE[key][1].clone()
