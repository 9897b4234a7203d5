"""A10: counts numbers whose sign bit is clear, and 0 with them, which no draw has."""

import torch

ZOO = {"row": "A10", "problem": "active", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return x.shape[1] - torch.signbit(x).sum(dim=-1)
