"""Softmax over rows that a warp can hold: at most a thousand columns."""

import torch
from torch import nn

NAME = "softmax_warp"
WORKLOADS = {
    "heads": {"rows": 16384, "cols": 512, "weight": 2.0},
    "ragged": {"rows": 20001, "cols": 197},
    "few": {"rows": 7, "cols": 19, "held_out": True},
}


class Model(nn.Module):
    """Softmax along the last dimension."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) * 3.0]
