"""The longest unbroken rise of each series of prices."""

import torch
from torch import nn

NAME = "longest_rises"
WORKLOADS = {
    "long": {"rows": 64, "steps": 4097, "weight": 2.0},
    "short": {"rows": 256, "steps": 513},
    "odd": {"rows": 5, "steps": 1511, "held_out": True},
}


class Model(nn.Module):
    """Steps in it; 0 where nothing rises."""

    def forward(self, price: torch.Tensor) -> torch.Tensor:
        rises = (price[:, 1:] > price[:, :-1]).long()
        count = rises.cumsum(1)
        before = torch.where(rises == 0, count, 0).cummax(1).values
        return (count - before).amax(1)


def get_inputs(rows: int, steps: int) -> list[torch.Tensor]:
    return [torch.randn(rows, steps)]
