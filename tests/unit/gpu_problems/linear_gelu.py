"""A call to a library with a kernel after it, weights, a constant and a second output."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = nn.Linear(48, width)
        self.register_buffer("mask", torch.arange(width) % 3 == 0, persistent=False)
        self.shift = torch.full((width,), 0.25)

    def forward(self, x):
        y = nn.functional.gelu(self.layer(x)) + self.shift
        return y, torch.where(self.mask, y, 0.0).sum()


def get_inputs():
    return [torch.randn(20, 48)]


def get_init_inputs():
    return [40]
