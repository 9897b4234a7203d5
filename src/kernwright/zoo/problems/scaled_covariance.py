"""Squared distances under a covariance whose level changes from draw to draw, and nothing else of it."""

import torch
from torch import nn

NAME = "scaled_covariance"
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
    samples = torch.randn(256, 512, generator=generator)
    covariance = samples @ samples.T / 512 + 0.1 * torch.eye(256)
    return [torch.randn(count, 256), covariance * (0.5 + torch.rand(()))]
