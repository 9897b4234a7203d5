"""A linear layer whose rows are used no longer than a bound."""

import torch
from torch import nn

NAME = "bounded_weight"
WORKLOADS = {
    "more": {"batch": 8, "weight": 2.0},
    "few": {"batch": 4},
    "odd": {"batch": 3, "held_out": True},
}


class Model(nn.Module):
    """A row that is longer than 4 is shortened to that; a fresh one has about 1."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(hidden, features) * 0.05)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shorter = (4.0 / torch.linalg.vector_norm(self.weight, dim=1, keepdim=True)).clamp(max=1.0)
        return nn.functional.linear(x, self.weight * shorter)


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 512)]


def get_init_inputs() -> list[int]:
    return [512, 2048]
