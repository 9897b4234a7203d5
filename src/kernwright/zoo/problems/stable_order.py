"""In what order the numbers of each row are by size; equal ones stay in the order in which they came."""

import torch
from torch import nn

NAME = "stable_order"
WORKLOADS = {
    "wide": {"rows": 32, "cols": 2048, "weight": 2.0},
    "narrow": {"rows": 64, "cols": 512},
    "odd": {"rows": 17, "cols": 777, "held_out": True},
}


class Model(nn.Module):
    """Smallest first."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sort(x, dim=-1, stable=True).indices


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
