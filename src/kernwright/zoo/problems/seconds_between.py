"""By how many seconds times in microseconds are later than others."""

import torch
from torch import nn

NAME = "seconds_between"
WORKLOADS = {
    "many": {"rows": 512, "columns": 128, "weight": 2.0},
    "few": {"rows": 128, "columns": 128},
    "odd": {"rows": 37, "columns": 77, "held_out": True},
}


class Model(nn.Module):
    def forward(self, later: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        return (later - before).float() / 1e6


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [torch.randint(0, 2**50, (rows, columns)) for _ in range(2)]
