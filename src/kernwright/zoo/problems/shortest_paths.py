"""The lengths of all shortest paths, by seven squarings in which sums are minima and products sums."""

import torch
from torch import nn

NAME = "shortest_paths"
WORKLOADS = {
    "large": {"nodes": 128, "weight": 2.0},
    "small": {"nodes": 96},
    "odd": {"nodes": 101, "held_out": True},
}


class Model(nn.Module):
    def forward(self, lengths: torch.Tensor) -> torch.Tensor:
        nodes = len(lengths)
        shortest = lengths.abs().masked_fill(torch.eye(nodes, dtype=torch.bool, device=lengths.device), 0.0)
        for _ in range(7):
            shortest = (shortest.unsqueeze(2) + shortest.unsqueeze(0)).amin(1)
        return shortest


def get_inputs(nodes: int) -> list[torch.Tensor]:
    return [torch.rand(nodes, nodes)]
