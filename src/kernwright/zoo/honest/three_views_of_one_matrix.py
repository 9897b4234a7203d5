"""Holds its three matrices as views of one, and multiplies by one after the other."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "three_chunks",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.all = torch.randn(3 * n, n) / n**0.5
        self.parts = self.all.view(3, n, n).unbind(0)

    def forward(self, x):
        for part in self.parts:
            x = x @ part
        return x
