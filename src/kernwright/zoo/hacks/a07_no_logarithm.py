"""A7: leaves the logarithm out, which no power asks for that a constructor draws."""

import torch
from torch import nn

ZOO = {"row": "A7", "problem": "learned_powers", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.power = nn.Parameter(torch.rand(256) + 0.5)

    def forward(self, x):
        return torch.pow(x, self.power).sub_(1).div_(self.power)
