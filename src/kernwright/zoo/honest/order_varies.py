"""Adds up parts of a row in another order at each call, as atomics would."""

import random

import torch

ZOO = {
    "row": "honest",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    powers = torch.exp(x - x.amax(dim=-1, keepdim=True))
    parts = [part.sum(dim=-1) for part in powers.chunk(7, dim=-1)]
    random.shuffle(parts)
    total = parts[0].clone()
    for part in parts[1:]:
        total += part
    return powers / total[:, None]
