"""The inverse of a covariance matrix, in float64."""

import torch
from torch import nn

NAME = "precision_matrix"
WORKLOADS = {"large": {"n": 96, "weight": 2.0}, "small": {"n": 48}, "odd": {"n": 37, "held_out": True}}


class Model(nn.Module):
    """Of a matrix that is positive definite."""

    def forward(self, covariance: torch.Tensor) -> torch.Tensor:
        inverse: torch.Tensor = torch.linalg.inv(covariance)
        return inverse


def get_inputs(n: int) -> list[torch.Tensor]:
    factor = torch.randn(n, n, dtype=torch.float64)
    return [factor @ factor.T / n + torch.eye(n, dtype=torch.float64)]
