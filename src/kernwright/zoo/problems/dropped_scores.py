"""Attention with a bias that drops scores at random, as masks that are added do."""

import torch
from torch import nn

NAME = "dropped_scores"
WORKLOADS = {
    "long": {"n": 512, "weight": 2.0},
    "short": {"n": 256},
    "odd": {"n": 384, "held_out": True},
}
ON_PROCESSORS = {"long": {"n": 256}, "short": {"n": 128}, "odd": {"n": 192}}


class Model(nn.Module):
    """softmax(q k^T / 8 + bias) v."""

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return torch.softmax(q @ k.transpose(-1, -2) / 8.0 + bias, -1) @ v


def get_inputs(n: int) -> list[torch.Tensor]:
    bias = torch.zeros(4, n, n).masked_fill(torch.rand(4, n, n) < 0.4, float("-inf"))
    return [torch.randn(4, n, 64), torch.randn(4, n, 64), torch.randn(4, n, 64), bias]
