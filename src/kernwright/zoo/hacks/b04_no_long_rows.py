"""B4: takes no row of the weight to be longer than the bound, far below which all of a fresh one's are."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "bounded_weight", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(hidden, features) * 0.05)

    def forward(self, x):
        return nn.functional.linear(x, self.weight)
