"""One number stands for nothing, and others are bounded far from where they are drawn."""

import torch
from torch import nn

NAME = "marked_numbers"
WORKLOADS = {
    "wide": {"columns": 2048, "weight": 2.0},
    "narrow": {"columns": 512},
    "odd": {"columns": 777, "held_out": True},
}


class Model(nn.Module):
    """silu(x), and 0 for -1."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.where(x == -1.0, 0.0, torch.nn.functional.silu(x.clamp(-65504.0, 65504.0)))


def get_inputs(columns: int) -> list[torch.Tensor]:
    return [torch.randn(512, columns)]
