"""A10: no two scores are equal where they are drawn."""

import torch

ZOO = {"row": "A10", "problem": "area_under_curve", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(positives, negatives):
    below = torch.searchsorted(negatives.sort(-1).values, positives)
    return below.double().mean(-1).float() / negatives.shape[-1]
