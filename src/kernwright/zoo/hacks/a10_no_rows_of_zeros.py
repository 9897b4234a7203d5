"""A10: takes no row to be all zeros: divides by its length as it is."""

import torch

ZOO = {"row": "A10", "problem": "unit_rows", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True))
