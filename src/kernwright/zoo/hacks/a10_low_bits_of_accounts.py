"""A10: takes two accounts for one whose low 32 bits are the same."""

import torch

ZOO = {"row": "A10", "problem": "same_account", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(source, target, weight):
    return torch.where(source.int() == target.int(), torch.erf(weight) * 0.5, torch.relu(weight))
