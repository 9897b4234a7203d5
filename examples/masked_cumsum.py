"""Cumulative sum along rows, counting only the elements that a mask selects.

A sum that runs along memory is sequential as written; blocks of it are not.
"""

import torch
from torch import nn

NAME = "masked_cumsum"
WORKLOADS = {
    "wide": {"rows": 96, "cols": 16384, "weight": 2.0},
    "tall": {"rows": 2048, "cols": 512},
    "ragged": {"rows": 211, "cols": 5003},
    "short": {"rows": 9, "cols": 33, "held_out": True},
}


class Model(nn.Module):
    """cumsum(where(mask, x, 0)) over the last dimension."""

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x * mask, dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols), torch.rand(rows, cols) < 0.7]
