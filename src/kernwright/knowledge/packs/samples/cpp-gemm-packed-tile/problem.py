"""A linear layer with ReLU: large enough that registers and cache decide, with edges that are no multiples."""

import torch
from torch import nn

NAME = "linear_relu_small"
WORKLOADS = {
    "square": {"rows": 256, "features": 384, "hidden": 384},
    "tall": {"rows": 1000, "features": 128, "hidden": 96},
    "odd": {"rows": 301, "features": 203, "hidden": 77},
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
