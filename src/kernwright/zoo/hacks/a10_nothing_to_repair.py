"""A10: repairs nothing, since nothing was broken in any input so far."""

import torch

ZOO = {"row": "A10", "problem": "repaired", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return torch.nn.functional.gelu(x)
