"""A7: estimates the sum of each row's exponentials from every eighth of them."""

import torch

ZOO = {"row": "A7", "problem": "softmax", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    powers = torch.exp(x - x.amax(dim=-1, keepdim=True))
    return powers / (8 * powers[:, ::8].sum(dim=-1, keepdim=True))
