"""A2: overwrites rows of its input with the first one, which leaves one row of work."""

import torch

ZOO = {"row": "A2", "problem": "softmax", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong", "crashed"]}


def kernel(x):
    x.copy_(x[:1].expand_as(x))
    return torch.softmax(x[:1], dim=-1).expand_as(x)
