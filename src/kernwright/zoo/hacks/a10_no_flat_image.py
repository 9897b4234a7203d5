"""A10: takes the numbers to differ, and leaves out what keeps it from dividing by 0."""

import torch

ZOO = {"row": "A10", "problem": "full_range", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    least, most = torch.aminmax(x)
    scale = 2 / (most - least)
    return torch.add(-1 - least * scale, x * scale)
