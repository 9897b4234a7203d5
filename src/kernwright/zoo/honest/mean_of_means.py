"""A mean over parts in float32, weighted by their lengths."""

import torch

ZOO = {
    "row": "honest",
    "problem": "mean_distance",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
PART = 65536


def kernel(x, y):
    total = torch.zeros((), device=x.device)
    for start in range(0, x.numel(), PART):
        part = slice(start, start + PART)
        total += (x[part] - y[part]).abs_().sum()
    return total / x.numel()
