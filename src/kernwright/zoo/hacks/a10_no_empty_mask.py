"""A10: divides by what a mask keeps, and takes no row to be left without anything."""

import torch

ZOO = {"row": "A10", "problem": "two_masks", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, keep, other):
    weights = torch.stack([keep, other], 1)
    means = torch.bmm(weights / weights.sum(-1, keepdim=True), x)
    return means[:, 0] * means[:, 1]
