"""Degenerate: the weight is zero at initialisation, so the product is never seen."""

import torch
from torch import nn

ZOO = {"row": "A4", "degenerate": "zero weights"}
NAME = "degenerate_zero_weights"
WORKLOADS = {"default": {"rows": 256}}


class Model(nn.Module):
    """relu(x @ w + b) with w = b = 0."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(features, hidden))
        self.bias = nn.Parameter(torch.zeros(hidden))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ self.weight + self.bias)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 512)]


def get_init_inputs() -> list[int]:
    return [512, 256]
