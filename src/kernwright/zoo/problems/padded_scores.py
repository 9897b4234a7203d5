"""Scores of tokens, by another formula where a token is padding."""

import torch
from torch import nn

PADDING = 0
NAME = "padded_scores"
WORKLOADS = {
    "large": {"tokens": 65536, "weight": 2.0},
    "small": {"tokens": 16384},
    "odd": {"tokens": 7777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, tokens: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        return torch.where(tokens == PADDING, torch.erf(scores) * 0.5, torch.relu(scores))


def get_inputs(tokens: int) -> list[torch.Tensor]:
    return [torch.randint(0, 100_000_000, (tokens,)), torch.randn(tokens)]
