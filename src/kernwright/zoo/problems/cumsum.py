"""Running sums along rows."""

import torch
from torch import nn

NAME = "cumsum"
WORKLOADS = {
    "wide": {"rows": 256, "cols": 4096, "weight": 2.0},
    "short": {"rows": 2048, "cols": 256},
    "odd": {"rows": 101, "cols": 1023, "held_out": True},
}
ON_PROCESSORS = {"wide": {"rows": 64}, "short": {"rows": 1024}}


class Model(nn.Module):
    """Cumulative sum over the last axis."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x, dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
