"""A product of two upper triangular matrices, and one with a symmetric matrix."""

import torch
from torch import nn

NAME = "triangular"
WORKLOADS = {
    "large": {"n": 384, "weight": 2.0},
    "small": {"n": 256},
    "odd": {"n": 259, "held_out": True},
}


class Model(nn.Module):
    """triu(a @ b) + s @ b."""

    def forward(self, a: torch.Tensor, b: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        return torch.triu(a @ b) + s @ b


def get_inputs(n: int) -> list[torch.Tensor]:
    half = torch.randn(n, n)
    return [torch.randn(n, n).triu(), torch.randn(n, n).triu(), half + half.t()]
