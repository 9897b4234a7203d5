"""a + b transposed: one of the two would be read a column at a time."""

import torch
from torch import nn

NAME = "transpose_add_gpu"
WORKLOADS = {
    "square": {"rows": 2048, "cols": 2048, "weight": 2.0},
    "odd": {"rows": 1333, "cols": 2501},
    "tiny": {"rows": 13, "cols": 37, "held_out": True},
}


class Model(nn.Module):
    """a + b.T."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a + b.transpose(0, 1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols), torch.randn(cols, rows)]
