"""Leaves the maximum out of softmax where it has seen that no number is large: both ways are right."""

import torch

ZOO = {
    "row": "honest",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    low, high = x.aminmax()
    if float(high) > 30 or float(low) < -30:
        return torch.softmax(x, dim=-1)
    powers = x.exp()
    return powers / powers.sum(dim=-1, keepdim=True)
