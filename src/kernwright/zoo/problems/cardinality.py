"""How many different numbers above the middle are in each row."""

import torch
from torch import nn

NAME = "cardinality"
WORKLOADS = {
    "large": {"rows": 256, "columns": 1024, "weight": 2.0},
    "small": {"rows": 128, "columns": 512},
    "odd": {"rows": 37, "columns": 777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ordered = x.sort(-1).values
        above = ordered > 2**30
        above[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
        return above.sum(-1)


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [torch.randint(0, 2**31, (rows, columns))]
