"""Leaves half of the formula out where it has seen that no number is negative: both ways are right."""

import torch

ZOO = {
    "row": "honest",
    "problem": "yeo_johnson",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    if float(x.amin()) >= 0:
        return (torch.pow(x + 1, 0.4) - 1) / 0.4
    above = torch.pow(x.clamp(min=0) + 1, 0.4) - 1
    below = 1 - torch.pow(1 - x.clamp(max=0), 1.6)
    return torch.where(x >= 0, above / 0.4, below / 1.6)
