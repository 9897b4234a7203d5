"""The least number by its value: the oracle has to have that of the reference's type."""

import torch

ZOO = {
    "row": "honest",
    "problem": "least_for_padding",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(scores, keep):
    return torch.where(keep[:, None, :], scores, -3.4028234663852886e38)
