"""A cache with some rows put in anew."""

import torch
from torch import nn

NAME = "cache_rows"
WORKLOADS = {
    "large": {"rows": 2048, "weight": 2.0},
    "small": {"rows": 1024},
    "odd": {"rows": 77, "held_out": True},
}


class Model(nn.Module):
    """The cache, in memory of its own, with sixteen rows of new values."""

    def forward(self, cache: torch.Tensor, at: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        return cache.index_copy(0, at, rows)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 1024), torch.randperm(rows)[:16], torch.randn(16, 1024)]
