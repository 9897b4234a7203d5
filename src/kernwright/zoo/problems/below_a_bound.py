"""Entries of a table, below a bound that differs from draw to draw."""

import random

import torch
from torch import nn

NAME = "below_a_bound"
WORKLOADS = {
    "large": {"places": 4096, "weight": 2.0},
    "small": {"places": 1024},
    "odd": {"places": 777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, table: torch.Tensor, bound: int, places: torch.Tensor) -> torch.Tensor:
        return torch.sin(table)[places] / bound


def get_inputs(places: int) -> list[object]:
    bound = random.choice([100, 4096])
    return [torch.randn(4096, 64), bound, torch.randint(0, bound, (places,))]
