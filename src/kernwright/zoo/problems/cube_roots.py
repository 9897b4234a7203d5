"""Cube roots of integers, rounded down, a bit at a time."""

import torch
from torch import nn

NAME = "cube_roots"
WORKLOADS = {"many": {"count": 65536, "weight": 2.0}, "few": {"count": 16384}, "odd": {"count": 7777, "held_out": True}}


class Model(nn.Module):
    def forward(self, n: torch.Tensor) -> torch.Tensor:
        root = torch.zeros_like(n)
        for bit in range(12, -1, -1):
            more = root + (1 << bit)
            root = torch.where(more * more * more <= n, more, root)
        return root


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randint(0, 1 << 38, (count,))]
