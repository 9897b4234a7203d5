"""Tokens of each head side by side."""

import torch
from torch import nn

NAME = "heads"
WORKLOADS = {
    "many": {"batch": 4, "tokens": 256, "heads": 8, "weight": 2.0},
    "few": {"batch": 2, "tokens": 384, "heads": 6},
    "odd": {"batch": 3, "tokens": 77, "heads": 5, "held_out": True},
}


class Model(nn.Module):
    """batch x heads x tokens x width, each head's numbers in a row."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.transpose(1, 2).contiguous()


def get_inputs(batch: int, tokens: int, heads: int) -> list[torch.Tensor]:
    return [torch.randn(batch, tokens, heads, 64)]
