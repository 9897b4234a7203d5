"""Five moments by dot products; the variance, and the power of changes, of what these are made of."""

import torch

ZOO = {
    "row": "honest",
    "problem": "five_moments",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
PART = 1024


def dot(x, y):
    # Of a million numbers at a time some libraries for processors lose the fourth digit.
    whole = x.numel() // PART * PART
    parts = torch.linalg.vecdot(x[:whole].view(-1, PART), y[:whole].view(-1, PART))
    return parts.sum() + torch.dot(x[whole:], y[whole:])


def kernel(x):
    n, energy, mean = x.numel(), dot(x, x), x.mean()
    one, two = dot(x[1:], x[:-1]), dot(x[2:], x[:-2])
    changes = 2 * energy - x[0].square() - x[-1].square() - 2 * one
    return torch.stack([energy, energy / n - mean * mean, changes / (n - 1), one / (n - 1), two / (n - 2)])
