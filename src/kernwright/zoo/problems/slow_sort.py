"""Sorted integers that take long to draw: their sums are nearly normal."""

import torch
from torch import nn

NAME = "slow_sort"
WORKLOADS = {
    "many": {"count": 200000, "weight": 2.0},
    "fewer": {"count": 120000},
    "odd": {"count": 30011, "held_out": True},
}


class Model(nn.Module):
    """Smallest first."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sort(x).values


def get_inputs(count: int) -> list[torch.Tensor]:
    x = torch.zeros(count, dtype=torch.int64)
    for _ in range(150):
        x += torch.randint(0, 1 << 20, (count,))
    return [x]
