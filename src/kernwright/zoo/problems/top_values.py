"""The sixteen largest numbers of each row: a selection."""

import torch
from torch import nn

NAME = "top_values"
WORKLOADS = {
    "wide": {"rows": 128, "cols": 4096, "weight": 2.0},
    "narrow": {"rows": 256, "cols": 1024},
    "odd": {"rows": 31, "cols": 1511, "held_out": True},
}


class Model(nn.Module):
    """Largest first."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.topk(x, 16, dim=-1).values


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
