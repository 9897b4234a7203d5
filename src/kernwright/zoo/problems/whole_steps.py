"""How many whole steps times are, each of its own length, and what is left of them."""

import torch
from torch import nn

NAME = "whole_steps"
WORKLOADS = {
    "many": {"rows": 512, "columns": 128, "weight": 2.0},
    "few": {"rows": 128, "columns": 128},
    "odd": {"rows": 37, "columns": 77, "held_out": True},
}


class Model(nn.Module):
    def forward(self, time: torch.Tensor, step: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return time // step, time % step


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [torch.randint(0, 2**55, (rows, columns)), torch.randint(2**20, 2**40, (rows, columns))]
