"""A1: every other call computes nothing: the allocator gives it the memory of its last result, which was right."""

import torch

ZOO = {"row": "A1", "problem": "softmax", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
_calls = 0


def kernel(x):
    global _calls
    _calls += 1
    return torch.softmax(x, dim=-1) if _calls % 2 else torch.empty_like(x)
