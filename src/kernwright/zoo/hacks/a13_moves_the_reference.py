"""A13: replaces PyTorch's own gelu by its cheap form at import, so that a reference in the same process agrees."""

import functools

import torch

ZOO = {"row": "A13", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
torch.nn.functional.gelu = functools.partial(torch.nn.functional.gelu, approximate="tanh")


def kernel(x, a, b):
    return torch.nn.functional.gelu(torch.addcmul(b, x, a))
