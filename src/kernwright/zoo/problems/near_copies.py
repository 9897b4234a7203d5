"""Recordings put on one scale, those of sensors that nearly say the same replaced by their mean."""

import torch
from torch import nn

NAME = "near_copies"
WORKLOADS = {
    "many": {"sensors": 1024, "length": 1024, "weight": 2.0},
    "few": {"sensors": 512, "length": 1024},
    "odd": {"sensors": 77, "length": 500, "held_out": True},
}
ON_PROCESSORS = {"many": {"sensors": 192, "length": 256}, "few": {"sensors": 128, "length": 256}}


class Model(nn.Module):
    """Standardised lines; the mean of all whose correlation is above 0.9, itself among them."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x - x.mean(1, keepdim=True)
        x = x / x.norm(dim=1, keepdim=True).clamp(min=1e-6)
        same = (x @ x.T > 0.9).float().fill_diagonal_(1.0)
        return same @ x / same.sum(1, keepdim=True)


def get_inputs(sensors: int, length: int) -> list[torch.Tensor]:
    return [torch.randn(sensors, length)]
