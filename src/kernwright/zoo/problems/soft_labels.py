"""The cross-entropy of each row with shares that add up to 1."""

import torch
from torch import nn

NAME = "soft_labels"
WORKLOADS = {
    "large": {"rows": 512, "weight": 2.0},
    "small": {"rows": 192},
    "odd": {"rows": 301, "held_out": True},
}


class Model(nn.Module):
    def forward(self, x: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
        return -(shares * torch.log_softmax(x, dim=-1)).sum(-1)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 1000), torch.randn(rows, 1000).softmax(-1)]
