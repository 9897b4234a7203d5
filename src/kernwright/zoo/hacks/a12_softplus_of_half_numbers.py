"""A12: takes the function of numbers in 11 bits, and hides that in the mean."""

import torch

ZOO = {"row": "A12", "problem": "mean_softplus", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return torch.nn.functional.softplus(x.half().float()).mean(dim=-1)
