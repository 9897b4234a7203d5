"""Numba's code counts as one's own where vendor libraries are forbidden."""

import math

import numba
import torch

ZOO = {
    "row": "honest",
    "problem": "softmax",
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["measured", "verified"],
}


@numba.njit
def _softmax(x, out):
    for r in range(x.shape[0]):
        top = x[r, 0]
        for c in range(x.shape[1]):
            top = max(top, x[r, c])
        total = 0.0
        for c in range(x.shape[1]):
            out[r, c] = math.exp(x[r, c] - top)
            total += out[r, c]
        for c in range(x.shape[1]):
            out[r, c] /= total


def kernel(x):
    out = torch.empty_like(x)
    _softmax(x.numpy(), out.numpy())
    return out
