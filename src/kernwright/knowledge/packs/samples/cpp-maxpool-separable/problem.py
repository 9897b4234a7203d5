"""Max pooling with a 5x5 window, stride 1, padding 2: twenty-five comparisons an output as written."""

import torch
from torch import nn

NAME = "maxpool5"
WORKLOADS = {
    "middle": {"planes": 48, "size": 64, "weight": 2.0},
    "large": {"planes": 6, "size": 200},
    "odd": {"planes": 3, "size": 11, "held_out": True},
}


class Model(nn.Module):
    """max_pool2d(x, 5, stride 1, padding 2)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.max_pool2d(x, 5, stride=1, padding=2)


def get_inputs(planes: int, size: int) -> list[torch.Tensor]:
    return [torch.randn(1, planes, size, size)]
