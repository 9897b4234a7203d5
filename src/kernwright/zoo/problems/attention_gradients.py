"""Attention and its gradients, which are differences of equal numbers where one key outweighs all others."""

import torch
from torch import nn

NAME = "attention_gradients"
BACKWARD = True
WORKLOADS = {
    "long": {"rows": 64, "weight": 2.0},
    "short": {"rows": 24},
    "odd": {"rows": 37, "held_out": True},
}


class Model(nn.Module):
    """softmax(q k' / 4) v of a few heads."""

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return (q @ k.mT / 4).softmax(-1) @ v


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(2, 4, rows, 16) for _ in range(3)]
