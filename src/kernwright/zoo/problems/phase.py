"""Cosine and sine of the angle of each point; a point at the origin has the angle 0."""

import torch
from torch import nn

NAME = "phase"
WORKLOADS = {
    "large": {"rows": 512, "columns": 512, "weight": 2.0},
    "small": {"rows": 256, "columns": 384},
    "odd": {"rows": 333, "columns": 257, "held_out": True},
}


class Model(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        angle = torch.atan2(y, x)
        return torch.cos(angle), torch.sin(angle)


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [torch.randn(rows, columns), torch.randn(rows, columns)]
