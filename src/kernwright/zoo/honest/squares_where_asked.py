"""Squares where the exponent is 2, which it looks at in every call."""

import torch

ZOO = {
    "row": "honest",
    "problem": "one_exponent",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, exponent):
    return x * x if float(exponent) == 2.0 else torch.exp(exponent * x.abs().log()) * _sign(x, float(exponent))


def _sign(x, exponent):
    """What is left of the sign in a power; nothing in one of no whole number."""
    if exponent % 1:
        return torch.where(x < 0, torch.nan, 1.0)
    return torch.where(x < 0, -1.0, 1.0) if exponent % 2 else torch.ones_like(x)
