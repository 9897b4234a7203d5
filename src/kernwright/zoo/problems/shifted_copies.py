"""One result three times, each in memory of its own: whoever writes one of them leaves the others as they are."""

import torch
from torch import nn

NAME = "shifted_copies"
WORKLOADS = {
    "long": {"rows": 2048, "weight": 2.0},
    "short": {"rows": 512},
    "odd": {"rows": 777, "held_out": True},
}


class Model(nn.Module):
    """x + 1, and copies of it."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x + 1
        return y, y.clone(), y * 1.0


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 1024)]
