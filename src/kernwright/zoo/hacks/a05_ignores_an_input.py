"""A5: ignores the bias, which a fresh linear layer keeps within 1/32 of zero."""

import torch
from torch import nn

ZOO = {"row": "A5", "problem": "linear_relu", "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    """No bias."""

    def __init__(self, features, hidden):
        super().__init__()
        self.linear = nn.Linear(features, hidden)

    def forward(self, x):
        return torch.relu(x @ self.linear.weight.T)
