"""A product of a few rows with a large matrix: one wave of tiles cannot fill a GPU, the inner dimension can."""

import torch
from torch import nn

NAME = "linear_few_rows"
WORKLOADS = {
    "deep": {"rows": 16, "features": 4096, "hidden": 256, "weight": 2.0},
    "odd": {"rows": 7, "features": 1111, "hidden": 300},
    "tiny": {"rows": 2, "features": 40, "hidden": 24, "held_out": True},
}


class Model(nn.Module):
    """x @ weight.T in float32."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(hidden, features) / features**0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.t()


def get_inputs(rows: int, features: int) -> list[torch.Tensor]:
    return [torch.randn(rows, features)]


def get_init_inputs(features: int, hidden: int) -> list[int]:
    return [features, hidden]
