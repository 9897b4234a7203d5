"""Tsallis' logarithm of learned orders: the usual one where the order is 1."""

import torch
from torch import nn

NAME = "learned_orders"
WORKLOADS = {
    "many": {"rows": 128, "weight": 2.0},
    "few": {"rows": 64},
    "odd": {"rows": 37, "held_out": True},
}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.order = nn.Parameter(2 + torch.rand(8, 256))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rest = 1 - self.order
        usual = rest.abs() < 1e-3
        safe = torch.where(usual, torch.ones_like(rest), rest)
        return torch.where(usual, torch.log(x), (torch.pow(x, safe) - 1) / safe)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.rand(rows, 8, 256) + 0.1]
