"""Each row in order: all numbers come out as they went in."""

import torch
from torch import nn

NAME = "sorted_rows"
WORKLOADS = {
    "wide": {"rows": 32, "cols": 8192, "weight": 2.0},
    "narrow": {"rows": 128, "cols": 1024},
    "odd": {"rows": 7, "cols": 1511, "held_out": True},
}
ON_PROCESSORS = {"wide": {"rows": 8}, "narrow": {"rows": 32}}


class Model(nn.Module):
    """Smallest first."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sort(x, dim=-1).values


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
