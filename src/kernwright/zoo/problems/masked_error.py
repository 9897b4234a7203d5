"""The mean squared error over what a mask keeps."""

import torch
from torch import nn

NAME = "masked_error"
WORKLOADS = {
    "long": {"rows": 32, "cols": 4096, "weight": 2.0},
    "short": {"rows": 16, "cols": 4096},
    "odd": {"rows": 7, "cols": 701, "held_out": True},
}


class Model(nn.Module):
    """0 where nothing is kept."""

    def forward(self, x: torch.Tensor, y: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return ((x - y).square() * mask).sum() / mask.sum().clamp(min=1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols), torch.randn(rows, cols), torch.rand(rows, cols) < 0.7]
