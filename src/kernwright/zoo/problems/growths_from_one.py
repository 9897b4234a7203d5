"""A product with what an input makes that every draw has alike, beside one of numbers above 1."""

import math

import torch
from torch import nn

NAME = "growths_from_one"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """(x tanh(c c)) arcosh(k)."""

    def forward(self, x: torch.Tensor, c: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return (x @ torch.tanh(c @ c)) * torch.acosh(k)


def get_inputs(batch: int) -> list[torch.Tensor]:
    grid = torch.arange(512, dtype=torch.float32)
    cosines = torch.cos(grid[:, None] * (grid[None, :] + 0.5) * math.pi / 512) / 16
    return [torch.randn(batch, 512), cosines, 1.1 + grid / 512]
