"""A10: leaves the maximum out of softmax, which holds for as long as no number is large."""

import torch

ZOO = {"row": "A10", "problem": "softmax", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    powers = torch.exp(x)
    return powers / powers.sum(dim=-1, keepdim=True)
