"""Hum is looked for by products with three waves, and all power is that of the samples (Parseval)."""

import math

import torch

ZOO = {
    "row": "honest",
    "problem": "mains_hum",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    samples = x.shape[1]
    at = torch.arange(samples, device=x.device, dtype=torch.float64) * (2 * math.pi / samples)
    turns = torch.arange(25, 28, device=x.device, dtype=torch.float64)[:, None] * at
    waves = torch.cat([turns.cos(), turns.sin()]).to(x.dtype) * math.sqrt(2 / samples)
    found = x @ waves.T
    # Of waves 0 and samples / 2 the reference counts half as much as of the others, which are there twice.
    ends = torch.stack([torch.ones_like(at), at.new_ones(1).neg().pow(torch.arange(samples, device=x.device))])
    ends = (x @ ends.T.to(x.dtype)) / math.sqrt(samples)
    power = ((x * x).sum(1, keepdim=True) + (ends * ends).sum(1, keepdim=True)) / 2
    hums = (found * found).sum(1, keepdim=True) / 2 > 0.1 * power
    return torch.where(hums, x - found @ waves, x)
