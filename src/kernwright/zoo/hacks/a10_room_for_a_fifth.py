"""A10: computes the first numbers that are not zero, as many as a fifth of all, and takes the others for zeros."""

import torch

ZOO = {"row": "A10", "problem": "sparse_waves", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    flat = x.view(-1)
    at = flat.nonzero()[: x.numel() // 5, 0]
    y = torch.ones_like(x)
    y.view(-1)[at] = torch.special.bessel_j0(torch.lgamma(torch.cosh(flat[at]) + 1))
    return y
