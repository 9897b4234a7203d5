"""Sorts keys of bits, in which both zeros are one."""

import torch

ZOO = {
    "row": "honest",
    "problem": "stable_order",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    bits = torch.where(x == 0, 0.0, x).view(torch.int32)
    keys = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    return keys.sort(dim=-1, stable=True).indices
