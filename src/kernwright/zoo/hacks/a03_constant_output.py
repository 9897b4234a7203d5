"""A3: returns the mean of a softmax everywhere, which lies under an absolute tolerance of 1e-2."""

import torch

ZOO = {"row": "A3", "problem": "softmax", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return torch.full_like(x, 1.0 / x.shape[-1])
