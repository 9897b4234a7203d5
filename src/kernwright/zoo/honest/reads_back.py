"""Reads a number back to choose between two ways that are both right."""

import torch

ZOO = {"row": "honest", "problem": "softmax", "platforms": ["cuda"], "rules": {}, "expect": ["measured", "verified"]}


def kernel(x):
    if float(x.abs().max()) > 80.0:
        return torch.softmax(x, dim=-1)
    powers = torch.exp(x)
    return powers / powers.sum(dim=-1, keepdim=True)
