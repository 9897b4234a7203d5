"""A matrix of the numbers that it is made of, of which each has a place of its own."""

import torch
from torch import nn

NAME = "sparse_places"
WORKLOADS = {
    "large": {"count": 4096, "weight": 2.0},
    "small": {"count": 2048},
    "odd": {"count": 777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, rows: torch.Tensor, columns: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        matrix = torch.zeros(1024, 1024, device=values.device)
        return matrix.index_put((rows, columns), values, accumulate=True).relu()


def get_inputs(count: int) -> list[torch.Tensor]:
    places = torch.randperm(1024 * 1024)[:count]
    return [places // 1024, places % 1024, torch.randn(count)]
