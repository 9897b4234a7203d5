"""Solves systems by Cholesky's factor of what is a covariance in every draw."""

import torch

ZOO = {
    "row": "honest",
    "problem": "covariance_input",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, s):
    return torch.cholesky_solve(x.mT, torch.linalg.cholesky(s)).mT
