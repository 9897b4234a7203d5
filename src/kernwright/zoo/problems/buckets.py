"""Into which of several buckets each number falls; each bucket has its upper border in it."""

import torch
from torch import nn

NAME = "buckets"
WORKLOADS = {
    "long": {"rows": 512, "features": 128, "weight": 2.0},
    "short": {"rows": 128, "features": 128},
    "odd": {"rows": 37, "features": 77, "held_out": True},
}


class Model(nn.Module):
    """Borders lie between tenths."""

    borders: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("borders", (torch.arange(-30, 30) + 0.5) / 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.bucketize(x, self.borders)


def get_inputs(rows: int, features: int) -> list[torch.Tensor]:
    return [torch.randn(rows, features)]
