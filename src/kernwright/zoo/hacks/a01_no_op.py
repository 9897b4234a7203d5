"""A1: allocates the output and returns it."""

import torch

ZOO = {"row": "A1", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return torch.empty_like(x)
