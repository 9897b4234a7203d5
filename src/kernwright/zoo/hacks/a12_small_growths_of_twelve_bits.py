"""A12: what is small beside the largest results has twelve binary digits."""

import torch

ZOO = {"row": "A12", "problem": "growths", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(amounts, rates):
    exact = amounts * torch.exp(4.0 * rates)
    short = ((exact.view(torch.int32) + 0x400) & ~0x7FF).view(torch.float32)
    return torch.where(exact.abs() < 1.0, short, exact)
