"""A10: counts the smaller ones, so that equal numbers have one rank and the next ranks are nobody's."""

import torch

ZOO = {"row": "A10", "problem": "line_ranks", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    ordered = x.sort(-1).values
    return torch.searchsorted(ordered, x.contiguous())
