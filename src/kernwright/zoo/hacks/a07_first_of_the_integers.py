"""A7: looks for the largest of ten integers among the first three hundred of thousands."""

import torch

ZOO = {"row": "A7", "problem": "integer_argmax", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return torch.argmax(x[:, :300], dim=-1)
