"""One number from millions: a part of them gives nearly the same."""

import torch
from torch import nn

NAME = "mean_distance"
WORKLOADS = {
    "long": {"n": 4194304, "weight": 2.0},
    "short": {"n": 1048576},
    "odd": {"n": 1500007, "held_out": True},
}
ON_PROCESSORS = {"long": {"n": 1048576}, "short": {"n": 262144}, "odd": {"n": 300007}}


class Model(nn.Module):
    """The mean of abs(x - y)."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.l1_loss(x, y)


def get_inputs(n: int) -> list[torch.Tensor]:
    return [torch.randn(n), torch.randn(n)]
