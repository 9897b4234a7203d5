"""Takes shares to add up to 1, so that the logarithm of a row's sum counts once."""

import torch

ZOO = {
    "row": "honest",
    "problem": "soft_labels",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, shares):
    return x.logsumexp(-1) - torch.linalg.vecdot(shares, x)
