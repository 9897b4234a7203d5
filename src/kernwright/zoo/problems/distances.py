"""Distances between two sets of points."""

import torch
from torch import nn

NAME = "distances"
WORKLOADS = {
    "large": {"n": 1024, "weight": 2.0},
    "small": {"n": 512},
    "odd": {"n": 333, "held_out": True},
}
ON_PROCESSORS = {"large": {"n": 384}, "small": {"n": 256}, "odd": {"n": 167}}


class Model(nn.Module):
    """Euclidean, each by itself."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")


def get_inputs(n: int) -> list[torch.Tensor]:
    return [torch.randn(n, 64), torch.randn(n, 64)]
