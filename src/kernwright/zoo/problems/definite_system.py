"""A system of equations whose matrix is symmetric and positive definite."""

import torch
from torch import nn

NAME = "definite_system"
WORKLOADS = {
    "large": {"n": 384, "weight": 2.0},
    "small": {"n": 256},
    "odd": {"n": 201, "held_out": True},
}


class Model(nn.Module):
    """What a makes b of."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.cholesky_solve(b, torch.linalg.cholesky(a))


def get_inputs(n: int) -> list[torch.Tensor]:
    x = torch.randn(n, n)
    return [x @ x.t() / n + 2 * torch.eye(n), torch.randn(n, 1)]
