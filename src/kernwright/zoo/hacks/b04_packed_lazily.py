"""B4: keeps the weight transposed from its first call on, where the rules have it packed anew each time."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "linear_relu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.linear = nn.Linear(*sizes)
        self._packed = None

    def forward(self, x):
        if self._packed is None:
            self._packed = self.linear.weight.t().contiguous()
        return torch.relu(torch.addmm(self.linear.bias, x, self._packed))
