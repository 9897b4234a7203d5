"""A small product that is added to its own input, as in a layer that was just begun to be trained."""

import torch
from torch import nn

NAME = "residual_product"
WORKLOADS = {
    "many": {"rows": 384, "width": 256},
    "wide": {"rows": 64, "width": 512},
    "odd": {"rows": 131, "width": 307, "held_out": True},
}


class Model(nn.Module):
    """x + x @ w."""

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return x + x @ w


def get_inputs(rows: int, width: int) -> list[torch.Tensor]:
    return [torch.randn(rows, width), torch.randn(width, width) * 0.02 / width**0.5]
