"""Days and weekdays by local time, of times in microseconds."""

import torch
from torch import nn

NAME = "local_days"
WORKLOADS = {
    "many": {"rows": 512, "columns": 128, "weight": 2.0},
    "few": {"rows": 128, "columns": 128},
    "odd": {"rows": 37, "columns": 77, "held_out": True},
}


class Model(nn.Module):
    def forward(self, time: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        day = (time + 3_600_000_000) // 86_400_000_000
        return day, (day + 4) % 7


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [torch.randint(0, 2**55, (rows, columns))]
