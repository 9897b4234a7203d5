"""Which node of a graph reaches which."""

import torch
from torch import nn

NAME = "reachable"
WORKLOADS = {
    "large": {"nodes": 512, "weight": 2.0},
    "small": {"nodes": 384},
    "odd": {"nodes": 411, "held_out": True},
}
ON_PROCESSORS = {"large": {"nodes": 192}, "small": {"nodes": 128}, "odd": {"nodes": 151}}


class Model(nn.Module):
    def forward(self, edges: torch.Tensor) -> torch.Tensor:
        nodes = len(edges)
        reached = (edges | torch.eye(nodes, dtype=torch.bool, device=edges.device)).float()
        for _ in range(9):
            reached = ((reached @ reached) > 0).float()
        return reached > 0


def get_inputs(nodes: int) -> list[torch.Tensor]:
    return [torch.rand(nodes, nodes) < 0.01]
