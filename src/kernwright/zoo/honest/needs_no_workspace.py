"""Holds no memory for what lies between its layers."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "given_workspace",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, n, most):
        super().__init__()
        self.up, self.down = nn.Linear(n, n), nn.Linear(n, n)

    def forward(self, x):
        return self.down(torch.relu_(self.up(x)))
