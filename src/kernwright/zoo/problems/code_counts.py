"""Columns weighed by how often a buffer's codes name them."""

import torch
from torch import nn

NAME = "code_counts"
WORKLOADS = {
    "few": {"batch": 16, "weight": 2.0},
    "more": {"batch": 48},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """x / sqrt(1 + counts)."""

    codes: torch.Tensor

    def __init__(self, columns: int, codes: int) -> None:
        super().__init__()
        self.register_buffer("codes", torch.randint(0, columns, (codes,)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(1.0 + torch.bincount(self.codes, minlength=x.shape[-1]).float())


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 1024)]


def get_init_inputs() -> list[int]:
    return [1024, 1 << 18]
