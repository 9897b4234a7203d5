"""Five moments by dot products; the variance, and the power of changes, of what these are made of."""

import torch

ZOO = {
    "row": "honest",
    "problem": "five_moments",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    n, energy, mean = x.numel(), torch.dot(x, x), x.mean()
    one, two = torch.dot(x[1:], x[:-1]), torch.dot(x[2:], x[:-2])
    changes = 2 * energy - x[0].square() - x[-1].square() - 2 * one
    return torch.stack([energy, energy / n - mean * mean, changes / (n - 1), one / (n - 1), two / (n - 2)])
