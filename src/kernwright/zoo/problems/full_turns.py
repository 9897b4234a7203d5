"""What is left of angles when all full turns of their own lengths are taken away."""

import torch
from torch import nn

NAME = "full_turns"
WORKLOADS = {
    "many": {"count": 200_000, "weight": 2.0},
    "few": {"count": 50_000},
    "odd": {"count": 7_777, "held_out": True},
}


class Model(nn.Module):
    """With the sign of the angle."""

    def forward(self, angles: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
        return torch.fmod(angles, turns)


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randn(count) * 50, torch.rand(count) + 0.5]
