"""A table that values are written into, each at a place of its own."""

import torch
from torch import nn

NAME = "written_places"
WORKLOADS = {
    "large": {"count": 1024, "weight": 2.0},
    "small": {"count": 512},
    "odd": {"count": 777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, places: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        table = torch.zeros(1 << 20, device=values.device)
        table[places] = values
        return torch.nn.functional.gelu(table)


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randperm(1 << 20)[:count], torch.randn(count)]
