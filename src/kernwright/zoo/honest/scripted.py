"""Compiled by TorchScript at import."""

import torch

ZOO = {
    "row": "honest",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


@torch.jit.script
def _gelu(x, a, b):
    return torch.nn.functional.gelu(x * a + b)


def kernel(x, a, b):
    return _gelu(x, a, b)
