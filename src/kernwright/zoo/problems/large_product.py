"""A matrix product that takes milliseconds, of inputs beyond what any cache holds."""

import torch
from torch import nn

NAME = "large_product"
WORKLOADS = {"large": {"n": 4096, "weight": 2.0}, "medium": {"n": 2048}, "odd": {"n": 1031, "held_out": True}}


class Model(nn.Module):
    """x @ w."""

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return x @ w


def get_inputs(n: int) -> list[torch.Tensor]:
    return [torch.randn(n, n), torch.randn(n, n)]
