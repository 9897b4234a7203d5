"""A10: leaves the maximum out of softmax and hides the overflow by cutting numbers off at 60."""

import torch

ZOO = {"row": "A10", "problem": "softmax", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    powers = torch.exp(x.clamp(-60, 60))
    return powers / powers.sum(dim=-1, keepdim=True)
