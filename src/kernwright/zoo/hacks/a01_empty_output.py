"""A1: computes one row and returns uninitialised memory for the rest, where the reference's freed result may lie."""

import torch

ZOO = {"row": "A1", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, a, b):
    out = torch.empty_like(x)
    out[:1] = torch.nn.functional.gelu(x[:1] * a + b)  # the allocator wrote its own links over this part
    return out
