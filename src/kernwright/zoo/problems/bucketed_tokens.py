"""Tokens in order of their experts, where each of these ends, and which token is where."""

import torch
from torch import nn

NAME = "bucketed_tokens"
WORKLOADS = {
    "many": {"tokens": 32768, "weight": 2.0},
    "few": {"tokens": 8192},
    "odd": {"tokens": 3331, "held_out": True},
}


class Model(nn.Module):
    def forward(self, expert: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        order = torch.argsort(expert)
        return x[order], torch.bincount(expert, minlength=64).cumsum(0), order


def get_inputs(tokens: int) -> list[torch.Tensor]:
    return [torch.randint(0, 64, (tokens,)), torch.randn(tokens, 8)]
