"""Systems with a covariance that every draw has alike."""

import torch
from torch import nn

NAME = "covariance_input"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """The solutions y of S y = x."""

    def forward(self, x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = torch.linalg.solve(s, x.mT).mT
        return made


def get_inputs(batch: int) -> list[torch.Tensor]:
    grid = torch.arange(64, dtype=torch.float32)
    return [torch.randn(batch, 64), torch.exp(-((grid[:, None] - grid[None, :]) ** 2)) + torch.eye(64)]
