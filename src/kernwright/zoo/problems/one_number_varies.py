"""A product with a power of a symmetric matrix of which one number alone is drawn."""

import torch
from torch import nn

NAME = "one_number_varies"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """x B^8 + s, where B is all of S but its first line and column, and s its first number."""

    def forward(self, x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        b = s[1:, 1:]
        for _ in range(3):
            b = b @ b
        return x @ b + s[0, 0]


def get_inputs(batch: int) -> list[torch.Tensor]:
    grid = torch.arange(385, dtype=torch.float32)
    s = torch.cos(grid[:, None] * grid[None, :]) / 20
    s[0, 0] = torch.randn(())
    return [torch.randn(batch, 384), s]
