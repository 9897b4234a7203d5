"""How much any two boxes overlap, as a share of what they cover together."""

import torch
from torch import nn

NAME = "boxes"
WORKLOADS = {
    "large": {"rows": 256, "columns": 256, "weight": 2.0},
    "small": {"rows": 128, "columns": 256},
    "odd": {"rows": 133, "columns": 77, "held_out": True},
}


class Model(nn.Module):
    """The first two numbers of each box are its lower corner, the others its upper one."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        areas = [(x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1]) for x in (a, b)]
        lower = torch.maximum(a[:, None, :2], b[:, :2])
        upper = torch.minimum(a[:, None, 2:], b[:, 2:])
        sides = (upper - lower).clamp(min=0)
        common = sides[..., 0] * sides[..., 1]
        return common / (areas[0][:, None] + areas[1] - common)


def _boxes(count: int) -> torch.Tensor:
    lower = torch.rand(count, 2) * 100
    return torch.cat([lower, lower + torch.rand(count, 2) * 30 + 1], 1)


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [_boxes(rows), _boxes(columns)]
