"""A10: compares numbers by their bits, in which 0 is above -0."""

import torch

ZOO = {"row": "A10", "problem": "below_each", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    bits = x.view(torch.int32)
    keys = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    ordered = keys.sort(dim=-1).values
    return torch.searchsorted(ordered, keys)
