"""Adam's update of many parameters, whose moments count for more in the first steps."""

import torch
from torch import nn

NAME = "first_steps"
WORKLOADS = {
    "large": {"count": 65536, "weight": 2.0},
    "small": {"count": 16384},
    "odd": {"count": 7777, "held_out": True},
}


class Model(nn.Module):
    def forward(
        self, weight: torch.Tensor, first: torch.Tensor, second: torch.Tensor, slope: torch.Tensor, step: torch.Tensor
    ) -> torch.Tensor:
        first = (0.9 * first + 0.1 * slope) / (1 - torch.pow(0.9, step))
        second = (0.999 * second + 0.001 * slope * slope) / (1 - torch.pow(0.999, step))
        return weight - 0.5 * first / (second.sqrt() + 1e-2)


def get_inputs(count: int) -> list[torch.Tensor]:
    moments = [torch.randn(count), torch.rand(count) + 0.5]
    return [torch.randn(count), *moments, torch.randn(count), torch.randint(1, 10_000_000, (1,))]
