"""The rank of each number in its line, counted from 0."""

import torch
from torch import nn

NAME = "line_ranks"
WORKLOADS = {"many": {"lines": 2048, "weight": 2.0}, "few": {"lines": 512}, "odd": {"lines": 333, "held_out": True}}
ON_PROCESSORS = {"many": {"lines": 512}, "few": {"lines": 256}}


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.argsort(torch.argsort(x, dim=-1), dim=-1)


def get_inputs(lines: int) -> list[torch.Tensor]:
    return [torch.randn(lines, 64)]
