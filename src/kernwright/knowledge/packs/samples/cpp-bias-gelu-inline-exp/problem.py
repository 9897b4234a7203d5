"""Bias and GELU in its tanh form: an activation whose cost is its function, not its bytes."""

import torch
from torch import nn

NAME = "bias_gelu_tanh"
WORKLOADS = {
    "tokens": {"rows": 512, "cols": 3072, "weight": 2.0},
    "ragged": {"rows": 333, "cols": 1021},
    "odd": {"rows": 5, "cols": 19, "held_out": True},
}


class Model(nn.Module):
    """gelu(x + bias), approximate by tanh."""

    def __init__(self, cols: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(0.1 * torch.randn(cols))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(x + self.bias, approximate="tanh")


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) * 2.0]


def get_init_inputs(cols: int) -> list[int]:
    return [cols]
