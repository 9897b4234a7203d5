"""Squared distance of each point to the nearest of a set of centres: a matrix that only its row minima leave."""

import torch
from torch import nn

NAME = "nearest_distance"
WORKLOADS = {
    "codebook": {"points": 1024, "centres": 256, "width": 16, "weight": 2.0},
    "cloud": {"points": 2000, "centres": 1000, "width": 3},
    "few": {"points": 9, "centres": 21, "width": 5, "held_out": True},
}


class Model(nn.Module):
    """min over centres of |x - c|^2."""

    def forward(self, x: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
        return (x.unsqueeze(1) - centres.unsqueeze(0)).square().sum(dim=-1).amin(dim=1)


def get_inputs(points: int, centres: int, width: int) -> list[torch.Tensor]:
    return [torch.randn(points, width), torch.randn(centres, width)]
