"""A1: allocates the output and returns it."""

import torch

ZOO = {"row": "A1", "problem": "cumsum", "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return torch.empty_like(x)
