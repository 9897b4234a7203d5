"""A system of linear equations in complex numbers, drawn near the identity."""

import torch
from torch import nn

NAME = "complex_solve"
WORKLOADS = {
    "large": {"n": 320, "weight": 2.0},
    "small": {"n": 160},
    "odd": {"n": 101, "held_out": True},
}


class Model(nn.Module):
    """The solution."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        x: torch.Tensor = torch.linalg.solve(a, b)
        return x


def get_inputs(n: int) -> list[torch.Tensor]:
    a = torch.eye(n) + 0.1 * torch.randn(n, n, dtype=torch.complex64) / n**0.5
    return [a, torch.randn(n, 1, dtype=torch.complex64)]
