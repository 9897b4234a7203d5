"""Exponentials in every call, and one batched product."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "turned_groups",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, groups, width):
        super().__init__()
        self.skew = nn.Parameter(torch.randn(groups, width, width) * 0.1)

    def forward(self, x):
        return torch.bmm(x, torch.matrix_exp(self.skew - self.skew.mT))
