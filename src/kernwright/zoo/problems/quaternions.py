"""Points turned by quaternions of length 1."""

import torch
from torch import nn

NAME = "quaternions"
WORKLOADS = {
    "large": {"count": 16384, "weight": 2.0},
    "small": {"count": 4096},
    "odd": {"count": 3333, "held_out": True},
}


class Model(nn.Module):
    def forward(self, turns: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
        real, axis = turns[:, :1], turns[:, 1:]
        across: torch.Tensor = 2 * torch.linalg.cross(axis, points)
        turned: torch.Tensor = points + real * across + torch.linalg.cross(axis, across)
        return turned


def get_inputs(count: int) -> list[torch.Tensor]:
    return [nn.functional.normalize(torch.randn(count, 4), dim=-1), torch.randn(count, 3)]
