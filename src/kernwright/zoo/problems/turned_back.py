"""Points moved and turned back to where they were before a rotation and a shift."""

import torch
from torch import nn

NAME = "turned_back"
WORKLOADS = {
    "many": {"count": 1024, "weight": 2.0},
    "few": {"count": 256},
    "odd": {"count": 333, "held_out": True},
}


class Model(nn.Module):
    def forward(self, turn: torch.Tensor, shift: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
        inverse: torch.Tensor = torch.linalg.inv(turn)
        return (inverse @ (points - shift[:, None]).mT).mT


def get_inputs(count: int) -> list[torch.Tensor]:
    turn = torch.linalg.qr(torch.randn(count, 3, 3)).Q
    return [turn, torch.randn(count, 3), torch.randn(count, 16, 3)]
