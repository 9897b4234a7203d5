"""A10: takes no node to be joined to itself, and never reads who is joined to whom."""

import torch

ZOO = {"row": "A10", "problem": "self_loops", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(source, target, weight):
    return torch.relu(weight)
