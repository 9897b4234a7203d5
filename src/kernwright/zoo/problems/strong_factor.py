"""The largest eigenvalue of covariances with one strong factor."""

import torch
from torch import nn

NAME = "strong_factor"
WORKLOADS = {
    "few": {"count": 16, "weight": 2.0},
    "more": {"count": 32},
    "odd": {"count": 5, "held_out": True},
}


class Model(nn.Module):
    """One for each matrix, 64 x 64."""

    def forward(self, covariances: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = torch.linalg.eigvalsh(covariances)
        return values[:, -1]


def get_inputs(count: int) -> list[torch.Tensor]:
    factor = torch.randn(count, 128, 1) * (1 + torch.rand(count, 1, 64)) * torch.randn(count, 1, 64).sign()
    samples = factor + 0.3 * torch.randn(count, 128, 64)
    return [samples.mT @ samples / 128]
