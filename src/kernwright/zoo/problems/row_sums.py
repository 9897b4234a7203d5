"""Sums of long rows, each given to eight heads: one number from many, and an output that is no memory of its own."""

import torch
from torch import nn

NAME = "row_sums"
WORKLOADS = {
    "long": {"rows": 64, "cols": 262144, "weight": 2.0},
    "short": {"rows": 2048, "cols": 4096},
    "odd": {"rows": 37, "cols": 70001, "held_out": True},
}


class Model(nn.Module):
    """The sum of each row, eight times."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(dim=-1, keepdim=True).expand(-1, 8)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
