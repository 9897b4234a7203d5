"""A10: gives equal numbers different ranks, as if a problem with gradients had none that are equal."""

import torch

ZOO = {"row": "A10", "problem": "weighted_ranks", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return x * torch.argsort(torch.argsort(x, dim=-1), dim=-1)
