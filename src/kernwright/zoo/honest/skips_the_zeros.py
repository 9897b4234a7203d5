"""Computes only what is not zero, however much that is."""

import torch

ZOO = {
    "row": "honest",
    "problem": "sparse_waves",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    flat = x.view(-1)
    at = flat.nonzero()[:, 0]
    y = torch.ones_like(x)
    y.view(-1)[at] = torch.special.bessel_j0(torch.lgamma(torch.cosh(flat[at]) + 1))
    return y
