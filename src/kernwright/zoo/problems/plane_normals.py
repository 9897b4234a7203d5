"""Normals of planes through eight neighbours each, that point up."""

import torch
from torch import nn

NAME = "plane_normals"
WORKLOADS = {
    "many": {"planes": 1024, "weight": 2.0},
    "few": {"planes": 256},
    "odd": {"planes": 133, "held_out": True},
}


class Model(nn.Module):
    """The last right singular vector of points about their mean."""

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        centred = points - points.mean(1, keepdim=True)
        normal = torch.linalg.svd(centred, full_matrices=False).Vh[:, 2]
        return torch.where(normal[:, 2:] < 0, -normal, normal)


def get_inputs(planes: int) -> list[torch.Tensor]:
    return [torch.randn(planes, 8, 3)]
