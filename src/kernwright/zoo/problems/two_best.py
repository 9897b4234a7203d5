"""The places of the two largest numbers of each line."""

import torch
from torch import nn

NAME = "two_best"
WORKLOADS = {"many": {"lines": 2048, "weight": 2.0}, "few": {"lines": 512}, "odd": {"lines": 333, "held_out": True}}


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.topk(x, 2, dim=-1).indices


def get_inputs(lines: int) -> list[torch.Tensor]:
    return [torch.randn(lines, 64)]
