"""Gains and shifts that are halves of one table, none of them a parameter."""

import torch
from torch import nn

NAME = "views_of_a_table"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """The sum over lines of x lgamma(exp(gain)) + lgamma(exp(shift))."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.table = torch.randn(2, 64, n)
        self.gain, self.shift = self.table[0], self.table[1]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made = x[:, None] * torch.lgamma(torch.exp(self.gain)) + torch.lgamma(torch.exp(self.shift))
        return made.sum(1)


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 512)]


def get_init_inputs() -> list[int]:
    return [512]
