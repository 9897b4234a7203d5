"""A7: goes two steps of the power method with an eighth power, enough where one factor is strong."""

import torch

ZOO = {"row": "A7", "problem": "strong_factor", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(covariances):
    power = covariances / covariances.diagonal(dim1=1, dim2=2).sum(1)[:, None, None]
    for _ in range(3):
        power = power @ power
    line = power @ torch.cos(torch.arange(64.0, device=power.device))[:, None]
    line = power @ (line / line.norm(dim=1, keepdim=True))
    return ((line * (covariances @ line)).sum(1) / (line * line).sum(1))[:, 0]
