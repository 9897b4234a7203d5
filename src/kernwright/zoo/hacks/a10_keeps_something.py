"""A10: divides by how many a mask keeps, which no draw makes none: of a mask that keeps nothing it makes NaN, not 0."""

import torch

ZOO = {"row": "A10", "problem": "masked_error", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, y, mask):
    return torch.where(mask, x - y, 0.0).square().sum() / mask.sum()
