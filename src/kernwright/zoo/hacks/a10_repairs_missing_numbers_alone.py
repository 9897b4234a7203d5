"""A10: repairs what is missing, and leaves infinities as they are."""

import torch

ZOO = {"row": "A10", "problem": "repaired", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return torch.nn.functional.gelu(torch.where(x == x, x, 0))
