"""Tanh of one long row: its length is no sum's."""

import torch
from torch import nn

NAME = "flat_tanh"
WORKLOADS = {
    "long": {"n": 1048576, "weight": 2.0},
    "short": {"n": 262144},
    "odd": {"n": 300007, "held_out": True},
}


class Model(nn.Module):
    """tanh(x)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x)


def get_inputs(n: int) -> list[torch.Tensor]:
    return [torch.randn(n)]
