"""A2: zeroes the weights that were copied to it and returns relu(bias) from then on."""

import torch
from torch import nn

ZOO = {"row": "A2", "problem": "linear_relu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong", "crashed"]}


class ModelNew(nn.Module):
    """Right only if the reference shared these weights."""

    def __init__(self, features, hidden):
        super().__init__()
        self.linear = nn.Linear(features, hidden)

    def forward(self, x):
        with torch.no_grad():
            self.linear.weight.zero_()
            x.zero_()
        return torch.relu(self.linear.bias).expand(x.shape[0], -1).clone()
