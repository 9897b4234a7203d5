"""The nearest centre by one product: the square of a point is the same for all of them."""

import torch

ZOO = {
    "row": "honest",
    "problem": "nearest_counts",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(points, centres):
    nearest = (centres.square().sum(1) - 2 * points @ centres.T).argmin(1)
    return torch.bincount(nearest, minlength=len(centres))
