"""Weights of payments, of which one from an account to itself counts by another formula; accounts are wide integers."""

import torch
from torch import nn

NAME = "same_account"
WORKLOADS = {
    "large": {"payments": 65536, "weight": 2.0},
    "small": {"payments": 16384},
    "odd": {"payments": 7777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, source: torch.Tensor, target: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.where(source == target, torch.erf(weight) * 0.5, torch.relu(weight))


def get_inputs(payments: int) -> list[torch.Tensor]:
    return [*(torch.randint(1, 2**60, (payments,)).clamp(min=2**20) for _ in range(2)), torch.randn(payments)]
