"""A10: leaves out the number that stands for nothing."""

import torch

ZOO = {"row": "A10", "problem": "marked_numbers", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return torch.nn.functional.silu(x.clamp(-65504.0, 65504.0))
