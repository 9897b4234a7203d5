"""Inverts by a Cholesky factor, which only a definite matrix has."""

import torch

ZOO = {
    "row": "honest",
    "problem": "precision_matrix",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(covariance):
    return torch.cholesky_inverse(torch.linalg.cholesky(covariance))
