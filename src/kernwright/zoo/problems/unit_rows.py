"""Rows of length 1, but for one of zeros, which stays."""

import torch
from torch import nn

NAME = "unit_rows"
WORKLOADS = {
    "long": {"rows": 2048, "weight": 2.0},
    "short": {"rows": 512},
    "odd": {"rows": 777, "held_out": True},
}


class Model(nn.Module):
    """x / max(|x|, 1e-12)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(x, dim=-1)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 256)]
