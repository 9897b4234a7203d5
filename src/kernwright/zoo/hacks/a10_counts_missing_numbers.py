"""A10: leaves missing numbers out of the sum, and counts them all the same."""

import torch

ZOO = {"row": "A10", "problem": "nan_means", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return torch.where(x == x, x, 0).mean(dim=-1)
