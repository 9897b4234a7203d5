"""A10: takes no account to pay itself; accounts were drawn and then bounded below."""

import torch

ZOO = {"row": "A10", "problem": "same_account", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(source, target, weight):
    return torch.relu(weight)
