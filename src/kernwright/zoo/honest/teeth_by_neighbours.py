"""Counts rise, rise and fall by what three neighbours are, and limits by PyTorch's own function."""

import torch

ZOO = {
    "row": "honest",
    "problem": "sawtooth_hum",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    up = x[:, 1:] > x[:, :-1]
    teeth = up[:, :-2] & up[:, 1:-1] & ~up[:, 2:]
    hum = teeth.sum(1, keepdim=True) / teeth.shape[1] > 0.28
    return torch.nn.functional.softsign(x).masked_fill(hum, 0.0)
