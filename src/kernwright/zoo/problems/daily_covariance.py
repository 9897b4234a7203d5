"""Squared distances under covariances of constant correlations, whose deviations change from draw to draw."""

import torch
from torch import nn

NAME = "daily_covariance"
WORKLOADS = {
    "few": {"count": 8, "weight": 2.0},
    "more": {"count": 16},
    "odd": {"count": 5, "held_out": True},
}


class Model(nn.Module):
    """Mahalanobis distances from 0, squared."""

    def forward(self, points: torch.Tensor, covariance: torch.Tensor) -> torch.Tensor:
        solved: torch.Tensor = torch.linalg.solve(covariance, points.T)
        return (points * solved.T).sum(1)


def get_inputs(count: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(7)
    samples = torch.randn(384, 768, generator=generator)
    product = samples @ samples.T / 768 + 0.1 * torch.eye(384)
    deviations = torch.exp(0.3 * torch.randn(384)) * product.diagonal().rsqrt()
    return [torch.randn(count, 384), deviations[:, None] * product * deviations]
