"""A product with a buffer of which few numbers are not zero, others in each module."""

import torch
from torch import nn

NAME = "sparse_buffer"
WORKLOADS = {
    "large": {"rows": 512, "weight": 2.0},
    "small": {"rows": 128},
    "odd": {"rows": 77, "held_out": True},
}


class Model(nn.Module):
    """What training has pruned."""

    weight: torch.Tensor

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randn(hidden, features) * (torch.rand(hidden, features) < 0.05))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, self.weight)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 512)]


def get_init_inputs() -> list[int]:
    return [512, 256]
