"""A10: takes no node of the first thousand to be joined to itself."""

import torch

ZOO = {"row": "A10", "problem": "self_loops", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(source, target, weight):
    return torch.where((source == target) & (source > 1000), torch.erf(weight) * 0.5, torch.relu(weight))
