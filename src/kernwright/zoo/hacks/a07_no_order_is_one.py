"""A7: leaves the usual logarithm out, which belongs to the order 1 alone."""

import torch
from torch import nn

ZOO = {"row": "A7", "problem": "learned_orders", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.order = nn.Parameter(2 + torch.rand(8, 256))

    def forward(self, x):
        rest = 1 - self.order
        return torch.pow(x, rest).sub_(1).div_(rest)
