"""The coefficient of variation of each row, of whose results few are nearly all of the size: means come near 0."""

import torch
from torch import nn

NAME = "row_variation"
WORKLOADS = {"few": {"rows": 1536}, "more": {"rows": 2560}, "odd": {"rows": 1029, "held_out": True}}


class Model(nn.Module):
    """x: (rows, 512) float32, of which a number for each row."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.std(1) / x.mean(1)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 512)]
