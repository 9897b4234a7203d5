"""Compiled by torch.compile at its first call; allowed where vendor libraries are."""

import torch

ZOO = {
    "row": "honest",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


@torch.compile(dynamic=False)
def kernel(x, a, b):
    return torch.nn.functional.gelu(x * a + b)
