"""Polynomial features: powers of each number, of which the first few are small beside the last."""

import torch
from torch import nn

NAME = "powers"
WORKLOADS = {
    "long": {"n": 131072, "weight": 2.0},
    "short": {"n": 32768},
    "odd": {"n": 50021, "held_out": True},
}


class Model(nn.Module):
    """x to the powers from 0 to 7."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([x**power for power in range(8)])


def get_inputs(n: int) -> list[torch.Tensor]:
    return [torch.randn(n) * 10]
