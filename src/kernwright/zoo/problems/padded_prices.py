"""Prices of each row in order, the highest first and those that are missing last, in other units."""

import torch
from torch import nn

NAME = "padded_prices"
WORKLOADS = {
    "wide": {"rows": 32, "cols": 8192, "weight": 2.0},
    "narrow": {"rows": 128, "cols": 1024},
    "odd": {"rows": 7, "cols": 1511, "held_out": True},
}
ON_PROCESSORS = {"wide": {"rows": 8}, "narrow": {"rows": 32}}


class Model(nn.Module):
    """Twice as large."""

    def forward(self, prices: torch.Tensor, missing: torch.Tensor) -> torch.Tensor:
        return -2.0 * torch.sort(-prices.masked_fill(missing, -1e9), dim=-1).values


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols), torch.rand(rows, cols) < 0.1]
