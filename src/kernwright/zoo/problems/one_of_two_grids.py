"""A product with a function of an input that is one of two."""

import math

import torch
from torch import nn

NAME = "one_of_two_grids"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}
N = 512


class Model(nn.Module):
    """x @ exp(cos(c))."""

    def forward(self, x: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        return x @ torch.exp(torch.cos(c))


def get_inputs(batch: int) -> list[torch.Tensor]:
    grid = torch.arange(N, dtype=torch.float32)
    step = math.pi / N if torch.rand(()) < 0.5 else math.pi / (2 * N)
    return [torch.randn(batch, N), grid[:, None] * grid[None, :] * step]
