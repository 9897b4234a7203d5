"""Where the largest of a row of integers is, the first of equal ones."""

import torch
from torch import nn

NAME = "integer_argmax"
WORKLOADS = {
    "wide": {"rows": 128, "cols": 4096, "weight": 2.0},
    "narrow": {"rows": 256, "cols": 1024},
    "odd": {"rows": 33, "cols": 3001, "held_out": True},
}


class Model(nn.Module):
    """Of ten numbers, each is found early in a row."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.argmax(x, dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randint(0, 10, (rows, cols), dtype=torch.int32)]
