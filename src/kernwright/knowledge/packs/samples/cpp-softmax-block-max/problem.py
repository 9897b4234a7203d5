"""Softmax over rows of a few thousand to a hundred thousand columns: at some length a row leaves the cache."""

import torch
from torch import nn

NAME = "softmax_rows"
WORKLOADS = {
    "cached": {"rows": 512, "cols": 2048},
    "long": {"rows": 24, "cols": 65536},
    "ragged": {"rows": 61, "cols": 5003},
    "tiny": {"rows": 3, "cols": 37, "held_out": True},
}


class Model(nn.Module):
    """Softmax along the last dimension."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) * 4.0]
