"""Finds the rank of a number by its place among the sorted ones, which equal ones share."""

import torch

ZOO = {
    "row": "honest",
    "problem": "weighted_ranks",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    drawn = x.detach()
    return x * torch.searchsorted(drawn.sort(dim=-1).values, drawn)
