"""Shares of what comes to places below a bound that differs from draw to draw."""

import random

import torch
from torch import nn

NAME = "below_a_bound"
WORKLOADS = {
    "large": {"count": 65536, "weight": 2.0},
    "small": {"count": 16384},
    "odd": {"count": 7777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, bound: int, places: torch.Tensor) -> torch.Tensor:
        ones = torch.ones(len(places), device=places.device)
        return torch.zeros(4096, device=places.device).index_add_(0, places, ones) / bound


def get_inputs(count: int) -> list[object]:
    bound = random.choice([3000, 4096])
    return [bound, torch.randint(0, bound, (count,))]
