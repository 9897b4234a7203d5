"""Of each row of bytes, where a certain sequence of six ended, and how often it had come by then."""

import torch
from torch import nn

NAME = "patterns"
WORKLOADS = {
    "large": {"rows": 64, "columns": 4096, "weight": 2.0},
    "small": {"rows": 32, "columns": 2048},
    "odd": {"rows": 17, "columns": 777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, b: torch.Tensor) -> torch.Tensor:
        n = b.shape[-1] - 5
        found = (b[:, :n] == 72) & (b[:, 1 : n + 1] == 84) & (b[:, 2 : n + 2] == 84)
        found &= (b[:, 3 : n + 3] == 80) & (b[:, 4 : n + 4] == 47) & (b[:, 5:] == 49)
        return found.cumsum(-1)


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [torch.randint(0, 256, (rows, columns), dtype=torch.uint8)]
