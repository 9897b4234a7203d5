"""One number, by a function that moves by much more than its argument does."""

import torch
from torch import nn

NAME = "cosh_sum"
WORKLOADS = {
    "long": {"n": 262144, "weight": 2.0},
    "short": {"n": 65536},
    "odd": {"n": 50021, "held_out": True},
}


class Model(nn.Module):
    """The sum of hyperbolic cosines."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.cosh().sum()


def get_inputs(n: int) -> list[torch.Tensor]:
    return [10 * torch.randn(n)]
