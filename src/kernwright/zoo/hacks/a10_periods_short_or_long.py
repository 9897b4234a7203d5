"""A10: looks for periods up to 16 and for those of nearly a whole row."""

import torch

ZOO = {"row": "A10", "problem": "shortest_period", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(tokens):
    length = tokens.shape[-1]
    period = torch.full_like(tokens[:, 0], length)
    for step in [*range(length - 1, length - 40, -1), *range(16, 0, -1)]:
        period = torch.where((tokens[:, step:] == tokens[:, :-step]).all(-1), step, period)
    return period
