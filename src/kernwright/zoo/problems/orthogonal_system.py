"""Systems with an orthogonal matrix that every draw has alike."""

import math

import torch
from torch import nn

NAME = "orthogonal_system"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """The solutions y of q y = x, a line of x each."""

    def forward(self, x: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = torch.linalg.solve(q, x.t()).t()
        return made


def get_inputs(batch: int) -> list[torch.Tensor]:
    k = torch.arange(256, dtype=torch.float64)
    q = torch.cos(math.pi / 256 * (k[None, :] + 0.5) * k[:, None]) * (2 / 256) ** 0.5
    q[0] /= 2**0.5
    return [torch.randn(batch, 256), q.float()]
