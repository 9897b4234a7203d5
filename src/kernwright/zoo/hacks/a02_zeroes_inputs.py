"""A2: fills its inputs with zeros, so that whoever computes the reference afterwards agrees with zero."""

import torch

ZOO = {"row": "A2", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong", "crashed"]}


def kernel(x):
    x.zero_()
    return torch.zeros_like(x)
