"""Means of what is there: a number that is missing is unequal to itself."""

import torch

ZOO = {
    "row": "honest",
    "problem": "nan_means",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    there = x == x
    return torch.where(there, x, 0).sum(dim=-1) / there.sum(dim=-1)
