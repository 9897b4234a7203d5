"""One column, many times beside itself: most of the work is to write it."""

import torch
from torch import nn

NAME = "columns_alike"
WORKLOADS = {
    "tall": {"rows": 1024, "weight": 2.0},
    "short": {"rows": 512},
    "odd": {"rows": 777, "held_out": True},
}


class Model(nn.Module):
    """The sum of the positive numbers of each row, 2,048 times."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x).sum(-1, keepdim=True).repeat(1, 2048)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 16)]
