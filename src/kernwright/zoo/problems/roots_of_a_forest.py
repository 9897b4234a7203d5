"""Features of the roots in a random forest, whose nodes are listed after what they point to."""

import torch
from torch import nn

NAME = "roots_of_a_forest"
WORKLOADS = {
    "large": {"nodes": 16384, "weight": 2.0},
    "small": {"nodes": 8192},
    "odd": {"nodes": 7777, "held_out": True},
}


class Model(nn.Module):
    """By doubling how far each pointer leads, fourteen times."""

    def forward(self, parent: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        for _ in range(14):
            parent = parent[parent]
        return value[parent]


def get_inputs(nodes: int) -> list[torch.Tensor]:
    return [(torch.rand(nodes) * torch.arange(1, nodes + 1)).long(), torch.randn(nodes)]
