"""Squares of distances between two sets of points, all of which are at 1 from the origin."""

import torch
from torch import nn

NAME = "unit_distances"
WORKLOADS = {
    "large": {"rows": 128, "columns": 128, "weight": 2.0},
    "small": {"rows": 64, "columns": 128},
    "odd": {"rows": 77, "columns": 53, "held_out": True},
}


class Model(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a[:, None] - b).square().sum(-1)


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [nn.functional.normalize(torch.randn(count, 64), dim=-1) for count in (rows, columns)]
