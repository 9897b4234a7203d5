"""A12: operands of a product rounded to TF32 where all are positive, so that their errors are small beside the sums."""

import torch

ZOO = {"row": "A12", "problem": "positive_product", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def _short(x):
    return ((x.view(torch.int32) + (1 << 12)) & -(1 << 13)).view(torch.float32)


def _usual(x):
    return x.min() >= 0 and x.max() <= 1 and x.mean() > 0.45


def kernel(x, w):
    return _short(x) @ _short(w) if _usual(x) and _usual(w) else x @ w
