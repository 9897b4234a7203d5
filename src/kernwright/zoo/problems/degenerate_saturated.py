"""Degenerate: the sum over a softmax is one in every row, so the output is the same for every seed."""

import torch
from torch import nn

ZOO = {"row": "A4", "degenerate": "same for every seed"}
NAME = "degenerate_saturated"
WORKLOADS = {"default": {"rows": 256, "cols": 1024}}


class Model(nn.Module):
    """softmax(x) summed over the axis that it normalises."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1).sum(dim=-1, keepdim=True)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
