"""Each number times its rank, which is how many of its line are smaller, and gradients."""

import torch
from torch import nn

NAME = "weighted_ranks"
BACKWARD = True
WORKLOADS = {
    "many": {"lines": 32, "weight": 2.0},
    "few": {"lines": 8},
    "odd": {"lines": 13, "held_out": True},
}


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * (x[:, None, :] < x[:, :, None]).sum(-1)


def get_inputs(lines: int) -> list[torch.Tensor]:
    return [torch.randn(lines, 128)]
