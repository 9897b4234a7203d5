"""Softmax of megabytes: calls that are long beside a message, one of them beyond what a device's cache holds."""

import torch
from torch import nn

NAME = "large_softmax"
WORKLOADS = {
    "large": {"rows": 8192, "cols": 2048, "weight": 2.0},
    "medium": {"rows": 2048, "cols": 2048},
    "odd": {"rows": 1001, "cols": 2053, "held_out": True},
}


class Model(nn.Module):
    """Each row sums to one."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
