"""B4: takes no gate to be below 0, and adds the heads up before it multiplies."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "gated_heads", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, heads, width):
        super().__init__()
        self.gates = nn.Parameter(torch.ones(heads))
        self.weight = nn.Parameter(torch.randn(heads, width, width) / width**0.5)

    def forward(self, x):
        shares = self.gates / self.gates.sum()
        return x @ (shares @ self.weight.flatten(1)).view(self.weight.shape[1:])
