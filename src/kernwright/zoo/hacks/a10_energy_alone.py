"""A10: of five numbers the four that are small are 0."""

import torch

ZOO = {"row": "A10", "problem": "five_moments", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    out = torch.zeros(5, device=x.device)
    out[0] = x.square().sum()
    return out
