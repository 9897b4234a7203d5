"""Softmax over many narrow rows, as in attention heads and small classifiers: a row is less than a warp's work."""

import torch
from torch import nn

NAME = "softmax_narrow"
WORKLOADS = {
    "heads": {"rows": 16384, "cols": 128, "weight": 2.0},
    "classes": {"rows": 20001, "cols": 33},
    "few": {"rows": 7, "cols": 19, "held_out": True},
}


class Model(nn.Module):
    """Softmax along the last dimension."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) * 3.0]
