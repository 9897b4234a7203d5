"""How many points are nearest to each centre."""

import torch
from torch import nn

NAME = "nearest_counts"
WORKLOADS = {
    "many": {"points": 8192, "centres": 64, "weight": 2.0},
    "few": {"points": 2048, "centres": 64},
    "odd": {"points": 3333, "centres": 64, "held_out": True},
}


class Model(nn.Module):
    """One step of k-means as far as its counts."""

    def forward(self, points: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
        distances = (points[:, None, :] - centres[None, :, :]).square().sum(-1)
        return torch.bincount(distances.argmin(1), minlength=len(centres))


def get_inputs(points: int, centres: int) -> list[torch.Tensor]:
    return [torch.randn(points, 16), torch.randn(centres, 16)]
