"""Multiplies by a reciprocal: one number in a million falls to the other side of a step, as PyTorch's own do."""

import torch

ZOO = {
    "row": "honest",
    "problem": "steps",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, step):
    return torch.round(x * (1.0 / step)).clamp(-128, 127) * step * torch.sigmoid(x)
