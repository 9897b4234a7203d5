"""A linear layer and ReLU: a module with parameters."""

import torch
from torch import nn

NAME = "linear_relu"
WORKLOADS = {
    "batch": {"batch": 96, "weight": 2.0},
    "large": {"batch": 192},
    "odd": {"batch": 33, "held_out": True},
}


class Model(nn.Module):
    """relu(x @ weight.T + bias)."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.linear = nn.Linear(features, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 1024)]


def get_init_inputs() -> list[int]:
    return [1024, 512]
