"""Tokens that two of many experts scale, by their shares."""

import torch
from torch import nn

NAME = "two_experts"
WORKLOADS = {
    "large": {"tokens": 4096, "weight": 2.0},
    "small": {"tokens": 2048},
    "odd": {"tokens": 777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, x: torch.Tensor, experts: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
        chosen = torch.zeros(len(x), len(scales), device=x.device).scatter_add_(1, experts, torch.ones_like(x[:, :2]))
        return x * (chosen @ scales)


def get_inputs(tokens: int) -> list[torch.Tensor]:
    return [torch.randn(tokens, 64), torch.rand(tokens, 64).topk(2, dim=-1).indices, torch.randn(64, 64)]
