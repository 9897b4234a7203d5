"""Sigmoid as 0.5 + 0.5 tanh(x / 2), in one instruction on a device: what is nearly 0 loses all of its digits."""

import torch

ZOO = {
    "row": "honest",
    "problem": "gates",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    return torch.tanh(x * 0.5) * 0.5 + 0.5
