"""A weight with its sign turned round, and a sum."""

import torch
from torch import nn

NAME = "negated_weight"
WORKLOADS = {
    "rows": {"rows": 64, "weight": 2.0},
    "more": {"rows": 96},
    "odd": {"rows": 33, "held_out": True},
}


class Model(nn.Module):
    """(sum of x, -w)."""

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(rows, columns))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.sum(dim=-1), -self.w


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 256)]


def get_init_inputs() -> list[int]:
    return [1024, 2048]
