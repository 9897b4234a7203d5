"""Little work for each number, so that copying a result takes as long as making it."""

import torch
from torch import nn

NAME = "leaky"
WORKLOADS = {
    "rows": {"rows": 2048, "weight": 2.0},
    "more": {"rows": 3072},
    "odd": {"rows": 515, "held_out": True},
}


class Model(nn.Module):
    """Leaky ReLU."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.leaky_relu(x, 0.1)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 1024)]
