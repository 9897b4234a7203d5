"""Tanh of scaled columns, and its gradients."""

import torch
from torch import nn

NAME = "scaled_tanh"
BACKWARD = True
WORKLOADS = {
    "tall": {"rows": 512, "weight": 2.0},
    "small": {"rows": 128},
    "odd": {"rows": 37, "held_out": True},
}


class Model(nn.Module):
    """tanh(x * scale)."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.randn(columns))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x * self.scale)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 1024)]


def get_init_inputs() -> list[int]:
    return [1024]
