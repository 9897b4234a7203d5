"""A linear layer on a handful of rows: every weight is read for a few multiply-adds, as when a model writes tokens."""

import torch
from torch import nn

NAME = "linear_skinny"
WORKLOADS = {
    "four": {"rows": 4, "features": 1024, "hidden": 1024, "weight": 2.0},
    "one": {"rows": 1, "features": 2048, "hidden": 512},
    "eleven": {"rows": 11, "features": 515, "hidden": 301},
    "tiny": {"rows": 2, "features": 17, "hidden": 5, "held_out": True},
}


class Model(nn.Module):
    """x @ weight.T + bias."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.linear = nn.Linear(features, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


def get_inputs(rows: int, features: int) -> list[torch.Tensor]:
    return [torch.randn(rows, features)]


def get_init_inputs(features: int, hidden: int) -> list[int]:
    return [features, hidden]
