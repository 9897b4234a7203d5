"""A11: knows the shapes of the problem by heart; for a row length that is in no table it leaves the row's end out."""

import torch

ZOO = {"row": "A11", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_TILES = {1031: 1031, 2048: 1792}


def kernel(x, a, b):
    width = _TILES.get(x.shape[1], 64)
    out = torch.zeros_like(x)
    out[:, :width] = torch.nn.functional.gelu(x[:, :width] * a[:width] + b[:width])
    return out
