"""A10: counts in 16 bits, which a dark image overflows."""

import torch

ZOO = {"row": "A10", "problem": "brightness", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(pixels):
    return torch.bincount(pixels, minlength=256) & 0xFFFF
