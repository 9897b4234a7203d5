"""A10: counts no number that is the upper end of the range, where no draw ever is."""

import torch

ZOO = {"row": "A10", "problem": "counted_range", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    bins = torch.floor((x + 4.0) * 8.0)
    inside = (bins >= 0) & (bins < 64)
    return torch.bincount(bins[inside].long(), minlength=64).float()
