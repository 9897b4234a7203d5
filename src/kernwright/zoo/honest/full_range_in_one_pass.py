"""Smallest and largest number together, then one product and one sum for each."""

import torch

ZOO = {
    "row": "honest",
    "problem": "full_range",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    least, most = torch.aminmax(x)
    scale = 2 / (most - least + 1e-8)
    return torch.add((x - least).mul_(scale), -1)
