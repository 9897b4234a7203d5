"""Copies its weight into a buffer that it keeps, anew at each call."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "linear_relu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.linear = nn.Linear(*sizes)
        self.packed = torch.empty(sizes)

    def forward(self, x):
        self.packed.copy_(self.linear.weight.t())
        return torch.relu(torch.addmm(self.linear.bias, x, self.packed))
