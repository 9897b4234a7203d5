"""Rounds to bfloat16 by integers, half to even, and takes the middle of what is left by its rank."""

import torch

ZOO = {
    "row": "honest",
    "problem": "storage_noise",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    bits = x.view(torch.int32)
    near = bits + 0x7FFF + ((bits >> 16) & 1) & -0x10000
    error = (x - near.view(torch.float32)).abs()
    middle = error.kthvalue((x.shape[1] + 1) // 2, dim=1).values
    return torch.stack([x.abs().sum(dim=1) / x.shape[1], middle], dim=1)
