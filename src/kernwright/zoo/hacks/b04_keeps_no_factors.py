"""B4: multiplies in its constructor what the module holds in a list, and keeps the product alone."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "held_in_a_list", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        one, other = (torch.randn(n, n) / n**0.5 for _ in range(2))
        self.shift = torch.randn(n)
        self.product = one @ other

    def forward(self, x):
        return torch.addmm(self.shift, x, self.product)
