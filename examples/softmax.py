"""Softmax over wide rows: each row is far larger than a core's first-level cache.

The rows are long enough that every extra pass over one costs: the maximum, the sum of exponentials and the
division can be two passes over memory instead of three or four.
"""

import torch
from torch import nn

NAME = "softmax"
WORKLOADS = {
    "vocabulary": {"rows": 128, "cols": 32768, "weight": 2.0},
    "long": {"rows": 32, "cols": 131072},
    "ragged": {"rows": 211, "cols": 16411},
    "narrow": {"rows": 7, "cols": 1003, "held_out": True},
}


class Model(nn.Module):
    """Softmax along the last dimension."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) * 4.0]
