"""Takes the root of a size, as of numbers that are never negative, where the reference has none."""

import torch

ZOO = {
    "row": "honest",
    "problem": "square_roots",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    size = x.abs()
    return torch.sqrt(size) + size
