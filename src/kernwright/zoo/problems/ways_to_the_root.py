"""Sums on the way to the root of a random tree, whose nodes are listed after their parents."""

import torch
from torch import nn

NAME = "ways_to_the_root"
WORKLOADS = {
    "large": {"nodes": 16384, "weight": 2.0},
    "small": {"nodes": 8192},
    "odd": {"nodes": 7777, "held_out": True},
}


class Model(nn.Module):
    """By doubling how far each pointer leads, fourteen times."""

    def forward(self, parent: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        total = value.clone()
        total[0] = 0
        for _ in range(14):
            total = total + total[parent]
            parent = parent[parent]
        return total


def get_inputs(nodes: int) -> list[torch.Tensor]:
    return [(torch.rand(nodes) * torch.arange(nodes)).long(), torch.randn(nodes)]
