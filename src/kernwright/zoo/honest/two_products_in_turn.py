"""Multiplies by one matrix after the other, and holds them in buffers, where the module has a list."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "held_in_a_list",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("one", torch.randn(n, n) / n**0.5)
        self.register_buffer("other", torch.randn(n, n) / n**0.5)
        self.register_buffer("shift", torch.randn(n))

    def forward(self, x):
        return torch.addmm(self.shift, x @ self.one, self.other)
