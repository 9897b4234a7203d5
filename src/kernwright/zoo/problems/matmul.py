"""A matrix product: where precision is for sale."""

import torch
from torch import nn

NAME = "matmul"
WORKLOADS = {
    "square": {"m": 1024, "n": 1024, "k": 1024, "weight": 2.0},
    "deep": {"m": 256, "n": 256, "k": 4096},
    "odd": {"m": 193, "n": 131, "k": 1027, "held_out": True},
}


class Model(nn.Module):
    """x @ w."""

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return x @ w


def get_inputs(m: int, n: int, k: int) -> list[torch.Tensor]:
    return [torch.randn(m, k), torch.randn(k, n)]
