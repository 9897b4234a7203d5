"""An LSTM over 24 steps."""

import torch
from torch import nn

NAME = "cells_of_a_sequence"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """The states of all steps."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.cells = nn.LSTM(n, n, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.cells(x)[0]
        return made


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 24, 64)]


def get_init_inputs() -> list[int]:
    return [64]
