"""A7: replaces gelu by its tanh form, 5e-4 away, which any tolerance of 1e-3 lets through."""

import torch

ZOO = {"row": "A7", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, a, b):
    return torch.nn.functional.gelu(torch.addcmul(b, x, a), approximate="tanh")
