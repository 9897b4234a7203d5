"""A7: adds up the last twentieth of the features as if they were zero."""

import torch
from torch import nn

ZOO = {"row": "A7", "problem": "linear_relu", "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    """Truncated in K."""

    def __init__(self, features, hidden):
        super().__init__()
        self.linear = nn.Linear(features, hidden)

    def forward(self, x):
        k = x.shape[1] * 19 // 20
        return torch.relu(torch.addmm(self.linear.bias, x[:, :k], self.linear.weight[:, :k].T))
