"""A block of rows, sixty-four times below itself."""

import torch
from torch import nn

NAME = "rows_again"
WORKLOADS = {
    "wide": {"columns": 1024, "weight": 2.0},
    "narrow": {"columns": 512},
    "wider": {"columns": 2048, "held_out": True},
}


class Model(nn.Module):
    """relu(x), repeated."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x).repeat(64, 1)


def get_inputs(columns: int) -> list[torch.Tensor]:
    return [torch.randn(32, columns)]
