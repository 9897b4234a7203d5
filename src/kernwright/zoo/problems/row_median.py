"""The median of each row."""

import torch
from torch import nn

NAME = "row_median"
WORKLOADS = {
    "wide": {"rows": 32, "cols": 16384, "weight": 2.0},
    "narrow": {"rows": 64, "cols": 8192},
    "odd": {"rows": 7, "cols": 10001, "held_out": True},
}
ON_PROCESSORS = {"wide": {"rows": 8}, "narrow": {"rows": 16}}


class Model(nn.Module):
    """The lower one of two."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.median(dim=-1).values


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
