"""A product of numbers that are all positive, as of shares and prices: most of each result is common to all."""

import torch
from torch import nn

NAME = "positive_product"
WORKLOADS = {
    "deep": {"m": 96, "k": 4096, "n": 96},
    "wide": {"m": 48, "k": 3072, "n": 256},
    "odd": {"m": 57, "k": 4001, "n": 71, "held_out": True},
}


class Model(nn.Module):
    """x @ w."""

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return x @ w


def get_inputs(m: int, k: int, n: int) -> list[torch.Tensor]:
    return [torch.rand(m, k), torch.rand(k, n)]
