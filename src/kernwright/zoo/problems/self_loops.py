"""Weights of a large graph's edges, where an edge from a node to itself counts by another formula."""

import torch
from torch import nn

NAME = "self_loops"
WORKLOADS = {
    "large": {"edges": 65536, "weight": 2.0},
    "small": {"edges": 16384},
    "odd": {"edges": 7777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, source: torch.Tensor, target: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.where(source == target, torch.erf(weight) * 0.5, torch.relu(weight))


def get_inputs(edges: int) -> list[torch.Tensor]:
    return [torch.randint(0, 100_000_000, (edges,)), torch.randint(0, 100_000_000, (edges,)), torch.randn(edges)]
