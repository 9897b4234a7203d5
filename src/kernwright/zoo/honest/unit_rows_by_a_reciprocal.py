"""Rows of length 1 by the reciprocal of their length, of which a row of zeros has a small one."""

import torch

ZOO = {
    "row": "honest",
    "problem": "unit_rows",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True).clamp(min=1e-24))
