"""a + b transposed: one of the two is read against the grain of memory."""

import torch
from torch import nn

NAME = "transpose_add"
WORKLOADS = {
    "square": {"rows": 1024, "cols": 1024, "weight": 2.0},
    "wide": {"rows": 300, "cols": 4001},
    "odd": {"rows": 13, "cols": 37, "held_out": True},
}


class Model(nn.Module):
    """a + b.T."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a + b.transpose(0, 1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols), torch.randn(cols, rows)]
