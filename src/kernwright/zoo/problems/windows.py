"""Windows that slide over rows, each written out."""

import torch
from torch import nn

NAME = "windows"
WORKLOADS = {
    "wide": {"rows": 64, "cols": 2048, "weight": 2.0},
    "narrow": {"rows": 64, "cols": 1024},
    "odd": {"rows": 33, "cols": 1501, "held_out": True},
}


class Model(nn.Module):
    """32 neighbours of each of gelu(x)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(x).unfold(1, 32, 1).contiguous()


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
