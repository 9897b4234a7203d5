"""Which of a row's times in nanoseconds is the latest, and which the first."""

import torch
from torch import nn

NAME = "first_and_last_time"
WORKLOADS = {
    "many": {"rows": 512, "columns": 128, "weight": 2.0},
    "few": {"rows": 128, "columns": 128},
    "odd": {"rows": 37, "columns": 77, "held_out": True},
}


class Model(nn.Module):
    def forward(self, time: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return time.argmax(-1), time.argmin(-1)


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [torch.randint(0, 2**62, (rows, columns))]
