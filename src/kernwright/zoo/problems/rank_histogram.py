"""How two columns hang together: a histogram of their ranks."""

import torch
from torch import nn

NAME = "rank_histogram"
WORKLOADS = {
    "long": {"count": 16384, "weight": 2.0},
    "short": {"count": 8192},
    "odd": {"count": 12000, "held_out": True},
}
CELLS = 16


class Model(nn.Module):
    """Cells (16 x 16) of equally many ranks each."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        count = len(x)
        first, second = (v.argsort().argsort() * CELLS // count for v in (x, y))
        return torch.bincount(first * CELLS + second, minlength=CELLS * CELLS)


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randn(count), torch.randn(count)]
