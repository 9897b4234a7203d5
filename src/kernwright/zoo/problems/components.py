"""The least node that each node of a graph is joined to, by labels that spread over its edges."""

import torch
from torch import nn

NAME = "components"
WORKLOADS = {
    "large": {"edges": 16384, "weight": 2.0},
    "small": {"edges": 12288},
    "odd": {"edges": 10921, "held_out": True},
}
NODES = 2048


class Model(nn.Module):
    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        labels = torch.arange(NODES, device=source.device)
        for _ in range(48):
            spread = labels.scatter_reduce(0, target, labels[source], "amin")
            labels = spread.scatter_reduce(0, source, spread[target], "amin")
        return labels


def get_inputs(edges: int) -> list[torch.Tensor]:
    return [torch.randint(0, NODES, (edges,)), torch.randint(0, NODES, (edges,))]
