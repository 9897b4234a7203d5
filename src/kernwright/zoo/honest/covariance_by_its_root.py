"""Solves by a triangular root of the covariance, each time anew."""

import torch

ZOO = {
    "row": "honest",
    "problem": "scaled_covariance",
    "platforms": ["cpu"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(points, covariance):
    root = torch.linalg.cholesky_ex(covariance)[0]
    return (points * torch.cholesky_solve(points.T, root).T).sum(1)
