"""Five numbers about a signal: energy, variance, power of its changes, and how far it goes with what was before."""

import torch
from torch import nn

NAME = "five_moments"
WORKLOADS = {
    "long": {"count": 1048576, "weight": 2.0},
    "short": {"count": 262144},
    "odd": {"count": 777777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        energy = x.square().sum()
        variance = (x - x.mean()).square().mean()
        changes = x.diff().square().mean()
        return torch.stack([energy, variance, changes, (x[1:] * x[:-1]).mean(), (x[2:] * x[:-2]).mean()])


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randn(count) + 0.25]
