"""The sum of the nodes' features for each graph; nodes come graph by graph."""

import torch
from torch import nn

NAME = "pooled_graphs"
WORKLOADS = {
    "large": {"nodes": 16384, "graphs": 256, "width": 32, "weight": 2.0},
    "small": {"nodes": 8192, "graphs": 128, "width": 32},
    "odd": {"nodes": 5003, "graphs": 77, "width": 32, "held_out": True},
}


class Model(nn.Module):
    """As many rows as `start` has."""

    def forward(self, x: torch.Tensor, graph: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        return start.index_add(0, graph, x)


def get_inputs(nodes: int, graphs: int, width: int) -> list[torch.Tensor]:
    graph = torch.randint(0, graphs, (nodes,)).sort().values
    return [torch.randn(nodes, width), graph, torch.randn(graphs, width)]
