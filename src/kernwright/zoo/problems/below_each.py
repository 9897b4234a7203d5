"""How many numbers of a row are below each of them."""

import torch
from torch import nn

NAME = "below_each"
WORKLOADS = {
    "wide": {"rows": 8, "cols": 256, "weight": 2.0},
    "narrow": {"rows": 32, "cols": 96},
    "odd": {"rows": 7, "cols": 177, "held_out": True},
}


class Model(nn.Module):
    """Places in a competition: equal numbers share theirs."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x[:, :, None] > x[:, None, :]).sum(-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
