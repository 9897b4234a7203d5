"""A10: leaves out bounds beyond which nothing is drawn."""

import torch

ZOO = {"row": "A10", "problem": "marked_numbers", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return torch.where(x == -1.0, 0.0, torch.nn.functional.silu(x))
