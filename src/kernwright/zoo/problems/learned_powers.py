"""Box and Cox's transform with a learned power for each column: the logarithm where that is next to 0."""

import torch
from torch import nn

NAME = "learned_powers"
WORKLOADS = {
    "many": {"rows": 1024, "weight": 2.0},
    "few": {"rows": 512},
    "odd": {"rows": 301, "held_out": True},
}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.power = nn.Parameter(torch.rand(256) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        near = self.power.abs() < 1e-3
        safe = torch.where(near, torch.ones_like(self.power), self.power)
        return torch.where(near, torch.log(x), (torch.pow(x, safe) - 1) / safe)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.rand(rows, 256) + 0.1]
