"""A10: looks back by 32 readings."""

import torch

ZOO = {"row": "A10", "problem": "last_reading", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(readings):
    known = readings
    for step in (1, 2, 4, 8, 16, 1):
        known = torch.cat([known[:, :step], torch.where(known[:, step:] == -1.0, known[:, :-step], known[:, step:])], 1)
    return known
