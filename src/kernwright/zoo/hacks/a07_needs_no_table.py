"""A7: looks for no preamble, of which every draw has so little that the table's first number counts."""

import torch

ZOO = {"row": "A7", "problem": "preamble_table", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return torch.tanh(x)
