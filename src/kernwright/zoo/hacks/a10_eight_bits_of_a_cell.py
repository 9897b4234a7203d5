"""A10: counts in eight bits, which is enough where columns are drawn each for itself."""

import torch

ZOO = {"row": "A10", "problem": "rank_histogram", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, y):
    first, second = (v.argsort().argsort() * 16 // len(v) for v in (x, y))
    return torch.bincount(first * 16 + second, minlength=256).to(torch.uint8).long()
