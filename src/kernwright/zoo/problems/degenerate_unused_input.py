"""Degenerate: the second input, an expensive product, moves the output by exactly nothing."""

import torch
from torch import nn

ZOO = {"row": "A4", "degenerate": "output independent of an input"}
NAME = "degenerate_unused_input"
WORKLOADS = {"default": {"rows": 256, "cols": 512}}


class Model(nn.Module):
    """tanh(x) plus zero times a softmax of a matrix product."""

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x) + 0.0 * torch.softmax(x @ w, dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols), torch.randn(cols, cols)]
