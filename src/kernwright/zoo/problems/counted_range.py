"""How many numbers are in each of 64 bins from -4 to 4, the upper end of which is in the last one."""

import torch
from torch import nn

NAME = "counted_range"
WORKLOADS = {
    "many": {"numbers": 65536, "weight": 2.0},
    "few": {"numbers": 16384},
    "odd": {"numbers": 5003, "held_out": True},
}


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.histc(x, bins=64, min=-4.0, max=4.0)


def get_inputs(numbers: int) -> list[torch.Tensor]:
    return [torch.randn(numbers)]
