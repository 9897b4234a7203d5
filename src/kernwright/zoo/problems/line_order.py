"""The places of each line in order of its numbers, as integers of 32 bits."""

import torch
from torch import nn

NAME = "line_order"
WORKLOADS = {"many": {"lines": 2048, "weight": 2.0}, "few": {"lines": 512}, "odd": {"lines": 333, "held_out": True}}


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.argsort(x, dim=-1).int()


def get_inputs(lines: int) -> list[torch.Tensor]:
    return [torch.randn(lines, 64)]
