"""Factors the complex matrix and solves with its factors, in two steps."""

import torch

ZOO = {
    "row": "honest",
    "problem": "complex_solve",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(a, b):
    factors, pivots = torch.linalg.lu_factor(a)
    return torch.linalg.lu_solve(factors, pivots, b)
