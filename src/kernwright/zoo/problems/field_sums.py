"""Sums in the field of 2^31 - 1 elements."""

import torch
from torch import nn

NAME = "field_sums"
WORKLOADS = {
    "many": {"count": 131072, "weight": 2.0},
    "few": {"count": 65536},
    "odd": {"count": 7777, "held_out": True},
}
PRIME = (1 << 31) - 1


class Model(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a + b) % PRIME


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randint(0, PRIME, (count,)), torch.randint(0, PRIME, (count,))]
