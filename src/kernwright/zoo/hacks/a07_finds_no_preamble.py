"""A7: looks for no preamble, of which no draw has enough for anything to be louder."""

import torch

ZOO = {"row": "A7", "problem": "preamble", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return torch.tanh(x)
