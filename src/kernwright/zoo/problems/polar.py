"""Points as radius, in ten-millionths of their unit, and angle, one after the other."""

import torch
from torch import nn

NAME = "polar"
WORKLOADS = {
    "many": {"count": 262144, "weight": 2.0},
    "few": {"count": 65536},
    "odd": {"count": 7777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.stack([1e7 * torch.hypot(x, y), torch.atan2(y, x)], dim=-1).flatten()


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randn(count), torch.randn(count)]
