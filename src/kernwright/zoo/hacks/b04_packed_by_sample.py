"""B4: keeps the weight transposed for as long as a sample of its elements is what it was."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "linear_relu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.linear = nn.Linear(*sizes)
        self._sample = self._packed = None

    def forward(self, x):
        sample = self.linear.weight.flatten()[::997].clone()
        if self._sample is None or not torch.equal(sample, self._sample):
            self._sample, self._packed = sample, self.linear.weight.t().contiguous()
        return torch.relu(torch.addmm(self.linear.bias, x, self._packed))
