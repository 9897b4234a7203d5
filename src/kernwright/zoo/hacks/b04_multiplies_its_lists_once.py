"""B4: multiplies two matrices once that it holds in a list, and goes on holding them there."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "held_in_a_list", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.factors = [torch.randn(n, n) / n**0.5 for _ in range(2)]
        self.shift = torch.randn(n)
        self._product = None

    def forward(self, x):
        if self._product is None:
            self._product = self.factors[0] @ self.factors[1]
        return x @ self._product + self.shift
