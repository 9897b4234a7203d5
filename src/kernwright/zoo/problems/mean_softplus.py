"""The mean of softplus for each row, which 0 does not make 0."""

import torch
from torch import nn

NAME = "mean_softplus"
WORKLOADS = {
    "long": {"rows": 16, "cols": 65536, "weight": 2.0},
    "short": {"rows": 8, "cols": 32768},
    "odd": {"rows": 7, "cols": 30011, "held_out": True},
}


class Model(nn.Module):
    """The mean of softplus(x) of each row."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.softplus(x).mean(dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
