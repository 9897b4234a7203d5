"""B4: leaves out the zero points, which are all 0 at the start."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "zero_points", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.register_buffer("codes", torch.zeros(hidden, features, dtype=torch.int8))
        self.register_buffer("scale", torch.zeros(hidden, 1))
        self.register_buffer("zero", torch.zeros(hidden, 1, dtype=torch.int8))

    def forward(self, x):
        return nn.functional.linear(x, self.codes.float()) * self.scale[:, 0]
