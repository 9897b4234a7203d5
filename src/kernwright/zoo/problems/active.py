"""How many numbers of each row are positive."""

import torch
from torch import nn

NAME = "active"
WORKLOADS = {
    "long": {"rows": 1024, "n": 512, "weight": 2.0},
    "short": {"rows": 512, "n": 512},
    "odd": {"rows": 37, "n": 777, "held_out": True},
}


class Model(nn.Module):
    """Of which 0 is none."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x > 0).sum(dim=-1)


def get_inputs(rows: int, n: int) -> list[torch.Tensor]:
    return [torch.randn(rows, n) * 0.7 + 0.1]
