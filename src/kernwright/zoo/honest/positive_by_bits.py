"""Counts bit patterns that are positive as integers: those of 0 are not, whatever its sign."""

import torch

ZOO = {
    "row": "honest",
    "problem": "active",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    return (x.view(torch.int32) > 0).sum(dim=-1)
