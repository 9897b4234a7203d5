"""A10: puts numbers in order by their bits, in which -0 is below 0."""

import torch

ZOO = {"row": "A10", "problem": "stable_order", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    bits = x.view(torch.int32)
    keys = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    return keys.sort(dim=-1, stable=True).indices
