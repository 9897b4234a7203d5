"""Sigmoids of which whole columns are nearly closed."""

import torch
from torch import nn

NAME = "gates"
WORKLOADS = {
    "long": {"rows": 2048, "cols": 512, "weight": 2.0},
    "short": {"rows": 512, "cols": 256},
    "odd": {"rows": 301, "cols": 131, "held_out": True},
}


class Model(nn.Module):
    """sigmoid(x)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(x)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) - torch.linspace(0, 30, cols)]
