"""Multiplies by a matrix, and then by its transpose."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "two_names_of_one",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("full", torch.randn(n, n) / n**0.5)
        self.register_buffer("turned", self.full.t())

    def forward(self, x):
        return (x @ self.full) @ self.turned
