"""A costly function of numbers most of which are zero, by chance."""

import torch
from torch import nn

NAME = "sparse_waves"
WORKLOADS = {
    "many": {"rows": 128, "cols": 1024, "weight": 2.0},
    "few": {"rows": 64, "cols": 512},
    "odd": {"rows": 33, "cols": 701, "held_out": True},
}


class Model(nn.Module):
    """Bessel's function of the first kind, of the logarithm of a gamma function."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = torch.special.bessel_j0(torch.lgamma(torch.cosh(x) + 1))
        return y


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) * (torch.rand(rows, cols) < 0.04)]
