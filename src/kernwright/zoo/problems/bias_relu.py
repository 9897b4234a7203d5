"""Bias and ReLU on little data: calls so short that a few microseconds count."""

import torch
from torch import nn

NAME = "bias_relu"
WORKLOADS = {
    "small": {"rows": 256, "cols": 1024, "weight": 2.0},
    "smaller": {"rows": 512, "cols": 384},
    "odd": {"rows": 13, "cols": 1013, "held_out": True},
}


class Model(nn.Module):
    """relu(x + b)."""

    def forward(self, x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + b)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols), torch.randn(cols)]
