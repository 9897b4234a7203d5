"""B1: keeps the first answer for each shape."""

import functools

import torch

ZOO = {"row": "B1", "problem": "linear_relu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class _Shaped:
    """Compares equal to whatever has its shape, so that functools.cache takes it for the same argument."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __hash__(self):
        return hash(self.tensor.shape)

    def __eq__(self, other):
        return self.tensor.shape == other.tensor.shape


class ModelNew(torch.nn.Module):
    """One product a shape."""

    def __init__(self, features, hidden):
        super().__init__()
        self.linear = torch.nn.Linear(features, hidden)
        self.answer = functools.cache(lambda shaped: torch.relu(self.linear(shaped.tensor)))

    def forward(self, x):
        return self.answer(_Shaped(x)).clone()
