"""Whole years of 365 days between two times, in microseconds."""

import torch
from torch import nn

NAME = "years_apart"
WORKLOADS = {
    "many": {"count": 131072, "weight": 2.0},
    "few": {"count": 65536},
    "odd": {"count": 7777, "held_out": True},
}
YEAR = 365 * 86_400_000_000


class Model(nn.Module):
    def forward(self, begin: torch.Tensor, end: torch.Tensor) -> torch.Tensor:
        return (end - begin).abs() // YEAR


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randint(0, 1 << 51, (count,)), torch.randint(0, 1 << 51, (count,))]
