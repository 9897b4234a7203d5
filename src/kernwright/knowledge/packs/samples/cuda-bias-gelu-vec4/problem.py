"""Bias and exact GELU: bytes decide on a GPU, the error function hides behind them if loads are wide."""

import torch
from torch import nn

NAME = "bias_gelu_exact"
WORKLOADS = {
    "tokens": {"rows": 2048, "cols": 3072, "weight": 2.0},
    "odd": {"rows": 3333, "cols": 1021},
    "tiny": {"rows": 5, "cols": 19, "held_out": True},
}


class Model(nn.Module):
    """gelu(x + bias)."""

    def __init__(self, cols: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(0.1 * torch.randn(cols))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(x + self.bias)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) * 2.0]


def get_init_inputs(cols: int) -> list[int]:
    return [cols]
