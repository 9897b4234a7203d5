"""A10: takes no point to be in both sets: the root of what rounding leaves below 0 is no number."""

import torch

ZOO = {"row": "A10", "problem": "distances", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, y):
    squares = torch.addmm((y * y).sum(-1)[None], x, y.t(), alpha=-2)
    return squares.add_((x * x).sum(-1, keepdim=True)).sqrt_()
