"""The eight largest of each row of numbers in float64, and where they are."""

import torch
from torch import nn

NAME = "largest_in_float64"
WORKLOADS = {
    "many": {"rows": 128, "columns": 64, "weight": 2.0},
    "few": {"rows": 64, "columns": 96},
    "odd": {"rows": 37, "columns": 48, "held_out": True},
}


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        top = x.topk(8, -1)
        return top.values, top.indices


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [torch.randn(rows, columns, dtype=torch.float64)]
