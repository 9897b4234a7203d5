"""One number from many, whose terms cancel: how large it is, is chance."""

import torch
from torch import nn

NAME = "correlation"
WORKLOADS = {
    "long": {"n": 262144, "weight": 2.0},
    "short": {"n": 65536},
    "odd": {"n": 50021, "held_out": True},
}


class Model(nn.Module):
    """The sum of products."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x * y).sum()


def get_inputs(n: int) -> list[torch.Tensor]:
    return [torch.randn(n), torch.randn(n)]
