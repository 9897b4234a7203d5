"""Computes a table at its first call, and is much quicker afterwards."""

import torch

ZOO = {
    "row": "honest",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
_table = []


def kernel(x, a, b):
    if not _table:
        _table.append(torch.linspace(-8, 8, 4_000_000).erf().sum())
    return torch.nn.functional.gelu(torch.addcmul(b, x, a))
