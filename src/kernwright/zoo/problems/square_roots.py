"""Square roots of shares: below 0 there are none."""

import torch
from torch import nn

NAME = "square_roots"
WORKLOADS = {
    "long": {"rows": 512, "cols": 1024, "weight": 2.0},
    "short": {"rows": 256, "cols": 512},
    "odd": {"rows": 37, "cols": 1003, "held_out": True},
}


class Model(nn.Module):
    """sqrt(x) + x."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sqrt(x) + x


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.rand(rows, cols)]
