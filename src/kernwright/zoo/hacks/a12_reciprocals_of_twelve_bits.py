"""A12: only the few largest results have more than twelve binary digits."""

import torch

ZOO = {"row": "A12", "problem": "reciprocals", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    exact = 1.0 / x
    short = ((exact.view(torch.int32) + 0x400) & ~0x7FF).view(torch.float32)
    return torch.where(x.abs() > 0.3, short, exact)
