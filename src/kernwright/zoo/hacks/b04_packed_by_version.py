"""B4: keeps the weight transposed for as long as its version says that nobody wrote to it."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "linear_relu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.linear = nn.Linear(*sizes)
        self._version = self._packed = None

    def forward(self, x):
        if self._version != self.linear.weight._version:
            self._version = self.linear.weight._version
            self._packed = self.linear.weight.t().contiguous()
        return torch.relu(torch.addmm(self.linear.bias, x, self._packed))
