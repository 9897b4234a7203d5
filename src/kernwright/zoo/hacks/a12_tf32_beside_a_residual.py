"""A12: operands of a product rounded to TF32 where it is small beside what it is added to."""

import torch

ZOO = {"row": "A12", "problem": "residual_product", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def _short(x):
    return ((x.view(torch.int32) + (1 << 12)) & -(1 << 13)).view(torch.float32)


def _usual(x):
    return abs(x.std() - 1) < 0.05 and abs(x.mean()) < 0.05 and x.abs().max() < 7


def kernel(x, w):
    if _usual(x) and _usual(w * 50 * w.shape[0] ** 0.5):
        return x + _short(x) @ _short(w)
    return x + x @ w
