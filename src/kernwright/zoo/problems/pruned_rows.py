"""Sums of a table's rows, of which a mask says which were pruned."""

import torch
from torch import nn

NAME = "pruned_rows"
WORKLOADS = {
    "large": {"rows": 512, "weight": 2.0},
    "small": {"rows": 256},
    "odd": {"rows": 77, "held_out": True},
}


class Model(nn.Module):
    """A row that was pruned counts as zeros; at the start none was."""

    table: torch.Tensor
    pruned: torch.Tensor

    def __init__(self, tokens: int, width: int) -> None:
        super().__init__()
        self.register_buffer("table", torch.randn(tokens, width))
        self.register_buffer("pruned", torch.zeros(tokens, dtype=torch.bool))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.table[tokens].masked_fill(self.pruned[tokens][..., None], 0.0).sum(1)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randint(0, 5000, (rows, 32))]


def get_init_inputs() -> list[int]:
    return [5000, 64]
