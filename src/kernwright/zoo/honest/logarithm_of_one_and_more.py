"""The difference in float64, rounded, and the logarithm of 1 and that, which has few digits of short times."""

import torch

ZOO = {
    "row": "honest",
    "problem": "waiting_times",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(a, b):
    return torch.log(1 + (a - b).float().abs())
