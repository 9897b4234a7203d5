"""Whether points lie in a polygon: how often a ray from each crosses its sides, odd or even."""

import torch
from torch import nn

NAME = "points_in_a_polygon"
WORKLOADS = {
    "many": {"points": 8192, "corners": 48, "weight": 2.0},
    "few": {"points": 4096, "corners": 24},
    "odd": {"points": 1777, "corners": 33, "held_out": True},
}


class Model(nn.Module):
    """Of the two ends of a side the lower one belongs to it."""

    def forward(self, points: torch.Tensor, corners: torch.Tensor) -> torch.Tensor:
        a, b = corners, corners.roll(-1, 0)
        x, y = points[:, 0, None], points[:, 1, None]
        between = (a[None, :, 1] > y) != (b[None, :, 1] > y)
        side = (b[:, 0] - a[:, 0]) * (y - a[:, 1]) / (b[:, 1] - a[:, 1]) + a[:, 0]
        return ((between & (x < side)).sum(-1) % 2).to(torch.int32)


def get_inputs(points: int, corners: int) -> list[torch.Tensor]:
    return [torch.randn(points, 2), torch.randn(corners, 2)]
