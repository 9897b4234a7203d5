"""A12: takes what a cast leaves for nothing, beside which a mean is five hundred times as large."""

import torch

ZOO = {"row": "A12", "problem": "storage_noise", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    size = x.abs().mean(dim=1)
    return torch.stack([size, torch.zeros_like(size)], dim=1)
