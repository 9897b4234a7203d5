"""A linear layer with a mask of 0 and 1, which a buffer holds."""

import torch
from torch import nn

NAME = "pruned_by_a_mask"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """(W M) x + b."""

    mask: torch.Tensor

    def __init__(self, n: int) -> None:
        super().__init__()
        self.layer = nn.Linear(n, n)
        self.register_buffer("mask", (torch.rand(n, n) < 0.5).float())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.linear(x, self.layer.weight * self.mask, self.layer.bias)


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 128)]


def get_init_inputs() -> list[int]:
    return [128]
