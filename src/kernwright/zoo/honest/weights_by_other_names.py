"""Draws its weights as the reference does and keeps them as they are, under names of its own and one under none."""

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
        linear = nn.Linear(*sizes)
        self.matrix = nn.Parameter(linear.weight.detach().clone())
        self.offset = linear.bias.detach()

    def forward(self, x):
        return torch.relu(torch.nn.functional.linear(x, self.matrix, self.offset.to(x.device)))
