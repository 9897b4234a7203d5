"""A10: looks for the second largest among what is smaller than the largest, of which there may be two."""

import torch

ZOO = {"row": "A10", "problem": "two_best", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    best, first = x.max(-1, keepdim=True)
    second = x.masked_fill(x == best, -torch.inf).argmax(-1, keepdim=True)
    return torch.cat((first, second), -1)
