"""A10: all angles are 0: each lies between two radii that are ten million times larger."""

import torch

ZOO = {"row": "A10", "problem": "polar", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, y):
    out = torch.zeros(2 * x.numel(), device=x.device)
    torch.mul(torch.hypot(x, y), 1e7, out=out[::2])
    return out
