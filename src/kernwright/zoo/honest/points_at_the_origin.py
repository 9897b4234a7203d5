"""Divides by the distance from the origin, but where a point lies there."""

import torch

ZOO = {
    "row": "honest",
    "problem": "phase",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, y):
    distance = torch.hypot(x, y)
    origin = distance == 0
    inverse = distance.masked_fill_(origin, 1.0).reciprocal_()
    return (x * inverse).masked_fill_(origin, 1.0), y * inverse
