"""Systems with a covariance, which a buffer holds."""

import torch
from torch import nn

NAME = "covariance_buffer"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """The solutions y of S y = x, by Cholesky's factor."""

    covariance: torch.Tensor

    def __init__(self, n: int) -> None:
        super().__init__()
        a = torch.randn(n, n + 96)
        self.register_buffer("covariance", a @ a.t() / (n + 96))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cholesky_solve(x.mT, torch.linalg.cholesky(self.covariance)).mT


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 384)]


def get_init_inputs() -> list[int]:
    return [384]
