"""A function makes the module, in a branch that is taken where PyTorch can add in place."""

from functools import partial

import torch
from torch import nn

ZOO = {"row": "honest", "problem": "linear_relu", "rules": {}, "expect": ["measured", "verified"]}


class Layer(nn.Module):
    """The product first, then all else in its memory."""

    def __init__(self, features, hidden, finish):
        super().__init__()
        self.linear = nn.Linear(features, hidden)
        self.finish = finish

    def forward(self, x):
        return self.finish(x @ self.linear.weight.T + self.linear.bias)


if hasattr(torch.Tensor, "relu_"):
    ModelNew = partial(Layer, finish=torch.Tensor.relu_)
else:
    ModelNew = partial(Layer, finish=torch.relu)
