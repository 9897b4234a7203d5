"""Radius and angle of complex numbers."""

import torch

ZOO = {
    "row": "honest",
    "problem": "polar",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, y):
    points = torch.complex(x, y)
    out = torch.empty(x.numel(), 2, device=x.device)
    torch.mul(points.abs(), 1e7, out=out[:, 0])
    out[:, 1] = points.angle()
    return out.view(-1)
