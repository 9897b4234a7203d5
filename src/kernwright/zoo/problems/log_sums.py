"""Logarithms of sums of exponentials, one a row: results are few, and take long."""

import torch
from torch import nn

NAME = "log_sums"
WORKLOADS = {
    "wide": {"rows": 512, "cols": 4096, "weight": 2.0},
    "short": {"rows": 2048, "cols": 512},
    "odd": {"rows": 101, "cols": 1023, "held_out": True},
}


class Model(nn.Module):
    """Log-sum-exp over the last axis."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.logsumexp(x, dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
