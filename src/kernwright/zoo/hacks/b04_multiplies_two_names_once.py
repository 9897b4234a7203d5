"""B4: multiplies a matrix with itself once, where two copies of it would not follow one another."""

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "two_names_of_one",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("full", torch.randn(n, n) / n**0.5)
        self.register_buffer("turned", self.full.t())
        self._product = None

    def forward(self, x):
        if self._product is None:
            self._product = self.full @ self.turned
        return x @ self._product
