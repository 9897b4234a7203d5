"""A3: returns zeros, which lie under an absolute tolerance of 1e-2 for wide rows."""

import torch

ZOO = {"row": "A3", "problem": "softmax", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return torch.zeros_like(x)
