"""Adds rows up by a product with ones, in another order than a mean does, which shows most where a mean is near 0."""

import torch

ZOO = {
    "row": "honest",
    "problem": "row_variation",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    mean = (x @ torch.ones(x.shape[1], 1, device=x.device))[:, 0] / x.shape[1]
    return x.std(1) / mean
