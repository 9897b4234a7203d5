"""Means of what is there: a missing number is NaN, and no draw misses any."""

import torch
from torch import nn

NAME = "nan_means"
WORKLOADS = {
    "long": {"rows": 512, "cols": 4096, "weight": 2.0},
    "short": {"rows": 2048, "cols": 512},
    "odd": {"rows": 37, "cols": 3001, "held_out": True},
}
ON_PROCESSORS = {"long": {"rows": 128}, "short": {"rows": 512}}


class Model(nn.Module):
    """The mean of each row over what is there."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nanmean(x, dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
