"""Turns vectors back by an orthogonal matrix, another one in each module."""

import torch
from torch import nn

NAME = "rotation_buffer"
WORKLOADS = {
    "large": {"columns": 512, "weight": 2.0},
    "small": {"columns": 128},
    "odd": {"columns": 77, "held_out": True},
}


class Model(nn.Module):
    """As the solution of linear equations."""

    turn: torch.Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("turn", torch.linalg.qr(torch.randn(size, size)).Q.contiguous())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        turned: torch.Tensor = torch.linalg.solve(self.turn, x)
        return turned


def get_inputs(columns: int) -> list[torch.Tensor]:
    return [torch.randn(128, columns)]


def get_init_inputs() -> list[int]:
    return [128]
