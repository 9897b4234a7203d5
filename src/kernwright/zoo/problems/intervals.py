"""How many intervals each interval meets."""

import torch
from torch import nn

NAME = "intervals"
WORKLOADS = {
    "many": {"count": 1024, "weight": 2.0},
    "few": {"count": 512},
    "odd": {"count": 777, "held_out": True},
}


class Model(nn.Module):
    """No interval ends before it starts."""

    def forward(self, start: torch.Tensor, end: torch.Tensor) -> torch.Tensor:
        return ((start[:, None] <= end) & (end[:, None] >= start)).sum(1)


def get_inputs(count: int) -> list[torch.Tensor]:
    start = torch.rand(count) * 100
    return [start, start + torch.rand(count)]
