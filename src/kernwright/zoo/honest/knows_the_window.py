"""Scales codes in each call, and makes the window itself, which is the same whatever the seed."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "dequantised",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.register_buffer("codes", torch.randint(-127, 128, (features, hidden), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(hidden) * 0.01 + 0.002)
        self.register_buffer("own", torch.linspace(0.5, 1.0, features))

    def forward(self, x):
        return ((x * self.own) @ self.codes.float()) * self.scale
