"""Means of windows of 32, of what is not missing; 0 where all is."""

import torch
from torch import nn

NAME = "windows_of_what_is_there"
WORKLOADS = {
    "many": {"rows": 128, "length": 1024, "weight": 2.0},
    "few": {"rows": 32, "length": 1024},
    "odd": {"rows": 17, "length": 777, "held_out": True},
}
ON_PROCESSORS = {"many": {"rows": 32}, "few": {"rows": 8}, "odd": {"rows": 5}}


class Model(nn.Module):
    def forward(self, readings: torch.Tensor) -> torch.Tensor:
        windows = readings.unfold(1, 32, 1)
        there = ~torch.isnan(windows)
        count = there.sum(-1)
        total = torch.where(there, windows, 0).sum(-1)
        return torch.where(count > 0, total / count.clamp(min=1), 0)


def get_inputs(rows: int, length: int) -> list[torch.Tensor]:
    return [torch.randn(rows, length)]
