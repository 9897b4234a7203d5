"""Inverses of many small matrices, as of poses, none of which is far from its diagonal."""

import torch
from torch import nn

NAME = "inverse_poses"
WORKLOADS = {
    "many": {"count": 8192, "weight": 2.0},
    "few": {"count": 2048},
    "odd": {"count": 777, "held_out": True},
}


class Model(nn.Module):
    """4 x 4 each."""

    def forward(self, poses: torch.Tensor) -> torch.Tensor:
        inverse: torch.Tensor = torch.linalg.inv(poses)
        return inverse


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randn(count, 4, 4) + 4.0 * torch.eye(4)]
