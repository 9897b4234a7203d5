"""Distances by a product of matrices: of points that are one it has few digits, and never the root of less than 0."""

import torch

ZOO = {
    "row": "honest",
    "problem": "distances",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, y):
    squares = torch.addmm((y * y).sum(-1)[None], x, y.t(), alpha=-2)
    return squares.add_((x * x).sum(-1, keepdim=True)).clamp_(min=0).sqrt_()
