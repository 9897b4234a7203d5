"""One over each number: near 0 they are large."""

import torch
from torch import nn

NAME = "reciprocals"
WORKLOADS = {
    "large": {"rows": 256, "cols": 1024, "weight": 2.0},
    "small": {"rows": 64, "cols": 1024},
    "odd": {"rows": 37, "cols": 777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 1.0 / x


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
