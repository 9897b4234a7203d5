"""The sums of eight parts of all terms, added up one after the other."""

import torch

ZOO = {
    "row": "honest",
    "problem": "positive_product",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, w):
    total = torch.zeros(x.shape[0], w.shape[1], device=x.device)
    for a, b in zip(x.chunk(8, 1), w.chunk(8, 0), strict=True):
        total += a @ b
    return total
