"""Fills with zeros where a mask of 0 and 1 is 0."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "pruned_by_a_mask",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layer = nn.Linear(n, n)
        self.register_buffer("mask", (torch.rand(n, n) < 0.5).float())

    def forward(self, x):
        return nn.functional.linear(x, self.layer.weight.masked_fill(self.mask == 0, 0), self.layer.bias)
