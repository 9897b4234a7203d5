"""Looks each number up in its sorted row."""

import torch

ZOO = {
    "row": "honest",
    "problem": "below_each",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    return torch.searchsorted(x.sort(dim=-1).values, x)
