"""A12: rounds moments to float32 before it takes their difference, which of two late ones is all that counts."""

import torch

ZOO = {"row": "A12", "problem": "waiting_times", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(a, b):
    return torch.log1p((a.float() - b.float()).abs())
