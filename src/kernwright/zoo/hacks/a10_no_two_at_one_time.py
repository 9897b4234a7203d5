"""A10: takes no two events to be at one time."""

import torch

ZOO = {"row": "A10", "problem": "events", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(signal, times):
    return torch.tanh(signal.diff() * times.diff().log2() / 50)
