"""Solves a definite system by two triangular ones."""

import torch

ZOO = {
    "row": "honest",
    "problem": "definite_system",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(a, b):
    lower = torch.linalg.cholesky(a)
    half = torch.linalg.solve_triangular(lower, b, upper=False)
    return torch.linalg.solve_triangular(lower.mT, half, upper=True)
