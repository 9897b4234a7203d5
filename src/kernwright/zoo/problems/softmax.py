"""Softmax over wide rows."""

import torch
from torch import nn

NAME = "softmax"
WORKLOADS = {
    "wide": {"rows": 256, "cols": 4096, "weight": 2.0},
    "wider": {"rows": 64, "cols": 8192},
    "odd": {"rows": 25, "cols": 12007, "held_out": True},
}
ON_PROCESSORS = {"wide": {"rows": 64}, "wider": {"rows": 32}, "odd": {"rows": 9}}


class Model(nn.Module):
    """Each row sums to one."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
