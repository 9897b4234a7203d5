"""Numba, compiled when the first call comes."""

import numba
import torch

ZOO = {"row": "honest", "problem": "cumsum", "rules": {}, "expect": ["measured", "verified"]}


@numba.njit
def _cumsum(x, out):
    for r in range(x.shape[0]):
        total = 0.0
        for c in range(x.shape[1]):
            total += x[r, c]
            out[r, c] = total


def kernel(x):
    out = torch.empty_like(x)
    _cumsum(x.numpy(), out.numpy())
    return out
