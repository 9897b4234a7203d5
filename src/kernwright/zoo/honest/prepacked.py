"""Keeps its weight transposed between calls, which these rules allow."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "linear_relu",
    "platforms": ["cpu", "cuda"],
    "rules": {"prepack": True},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.linear = nn.Linear(*sizes)
        self.packed = None

    def forward(self, x):
        if self.packed is None:
            self.packed = self.linear.weight.t().contiguous()
        return torch.relu(torch.addmm(self.linear.bias, x, self.packed))
