"""Bounds numbers below where the reference leaves out those that are not positive."""

import torch

ZOO = {
    "row": "honest",
    "problem": "rest_of_two_shares",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(a, b, x):
    return x.clamp(min=0).cumsum(1) + torch.log1p(-(a + b))[:, None]
