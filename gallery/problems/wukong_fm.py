"""The factorisation machine of WuKong: all pairwise products of a sample's features, projected, as X X^T Y.

Features, their width and the columns of the projection (N, D, K) of the timed workloads are those that KernelEvolve
reports (arXiv 2512.23236). Batch, precision and the held-out shapes are ours. Which of the two products comes first is
free: (X X^T) Y needs less arithmetic where there are fewer features than numbers in each.
"""

import torch
from torch import nn

NAME = "wukong_fm"
RULES = {"precision": "float16"}
WORKLOADS = {
    "many_columns": {"batch": 1024, "features": 24, "width": 224, "columns": 2198},
    "forty": {"batch": 1024, "features": 40, "width": 224, "columns": 448},
    "forty_eight": {"batch": 1024, "features": 48, "width": 224, "columns": 448},
    "ragged": {"batch": 37, "features": 19, "width": 72, "columns": 133, "held_out": True},
    "single": {"batch": 1, "features": 64, "width": 128, "columns": 96, "held_out": True},
}


class Model(nn.Module):
    """(batch, features, width) to (batch, features, columns)."""

    def __init__(self, features: int, columns: int) -> None:
        super().__init__()
        self.projection = nn.Parameter(torch.randn(features, columns) / features**0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pairs = torch.matmul(x, x.transpose(1, 2))
        return torch.matmul(pairs, self.projection)


def get_inputs(batch: int, features: int, width: int) -> list[torch.Tensor]:
    return [torch.randn(batch, features, width) / width**0.5]


def get_init_inputs(features: int, columns: int) -> list[int]:
    return [features, columns]
