"""Logarithms of the times between two events each, of a clock in float64."""

import torch
from torch import nn

NAME = "waiting_times"
WORKLOADS = {
    "many": {"count": 200_000, "weight": 2.0},
    "few": {"count": 50_000},
    "odd": {"count": 7_777, "held_out": True},
}


class Model(nn.Module):
    """In either direction."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.log1p((a - b).abs()).float()


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randn(count, dtype=torch.float64), torch.randn(count, dtype=torch.float64)]
