"""A float32 linear layer with ReLU where TF32 is not allowed: the sums belong on the ordinary cores."""

import torch
from torch import nn

NAME = "linear_relu_float32"
WORKLOADS = {
    "square": {"rows": 512, "features": 256, "hidden": 768, "weight": 2.0},
    "odd": {"rows": 777, "features": 133, "hidden": 301},
    "tiny": {"rows": 3, "features": 17, "hidden": 5, "held_out": True},
}


class Model(nn.Module):
    """relu(x @ weight.T + bias)."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.linear = nn.Linear(features, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


def get_inputs(rows: int, features: int) -> list[torch.Tensor]:
    return [torch.randn(rows, features)]


def get_init_inputs(features: int, hidden: int) -> list[int]:
    return [features, hidden]
