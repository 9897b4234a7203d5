"""Cumulative sum along rows of the elements that a mask selects."""

import torch
from torch import nn

NAME = "masked_cumsum_rows"
WORKLOADS = {
    "wide": {"rows": 64, "cols": 16384, "weight": 2.0},
    "tall": {"rows": 1024, "cols": 512},
    "ragged": {"rows": 111, "cols": 5003},
    "short": {"rows": 9, "cols": 33, "held_out": True},
}


class Model(nn.Module):
    """cumsum(x * mask) over the last dimension."""

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x * mask, dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols), torch.rand(rows, cols) < 0.7]
