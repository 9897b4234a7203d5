"""A reading of -1 stands for none: the last one before it counts."""

import torch
from torch import nn

NAME = "last_reading"
WORKLOADS = {
    "many": {"rows": 256, "length": 1024, "weight": 2.0},
    "few": {"rows": 64, "length": 1024},
    "odd": {"rows": 17, "length": 777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, readings: torch.Tensor) -> torch.Tensor:
        known = torch.where(readings == -1.0, 0, torch.arange(readings.shape[-1], device=readings.device))
        return readings.gather(1, known.cummax(-1).values)


def get_inputs(rows: int, length: int) -> list[torch.Tensor]:
    return [torch.randn(rows, length)]
