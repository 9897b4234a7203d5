"""Adds moments up by stretches of rows, one after the other."""

import torch

ZOO = {
    "row": "honest",
    "problem": "covariance",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    moments = torch.zeros(x.shape[1], x.shape[1], device=x.device)
    for part in x.split(64):
        moments.addmm_(part.T, part)
    return moments / x.shape[0]
