"""Correlations of pairs over what neither misses, 0 where that is fewer than three."""

import torch
from torch import nn

NAME = "correlations_of_pairs"
WORKLOADS = {
    "many": {"sensors": 64, "length": 256, "weight": 2.0},
    "few": {"sensors": 32, "length": 256},
    "odd": {"sensors": 19, "length": 177, "held_out": True},
}
ON_PROCESSORS = {"many": {"sensors": 24}, "few": {"sensors": 16}}


class Model(nn.Module):
    def forward(self, readings: torch.Tensor) -> torch.Tensor:
        there = ~torch.isnan(readings)
        both = (there[:, None] & there).float()
        known = torch.where(there, readings, 0)
        count = both.sum(-1)
        first, second = known[:, None] * both, known * both
        some = count.clamp(min=1)[..., None]
        first = (first - first.sum(-1, keepdim=True) / some) * both
        second = (second - second.sum(-1, keepdim=True) / some) * both
        size = torch.sqrt((first * first).sum(-1) * (second * second).sum(-1))
        return torch.where(count > 2, (first * second).sum(-1) / size.clamp(min=1e-6), 0)


def get_inputs(sensors: int, length: int) -> list[torch.Tensor]:
    return [torch.randn(sensors, length)]
