"""B4: packs the weight at each call, and from the fortieth call on no more."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "linear_relu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.linear = nn.Linear(*sizes)
        self._calls, self._packed = 0, None

    def forward(self, x):
        self._calls += 1
        if self._calls < 40:
            self._packed = self.linear.weight.t().contiguous()
        return torch.relu(torch.addmm(self.linear.bias, x, self._packed))
