"""The mean of a costly function: what each number is off by is lost in it."""

import torch
from torch import nn

NAME = "mean_lgamma"
WORKLOADS = {
    "long": {"n": 1048576, "weight": 2.0},
    "short": {"n": 262144},
    "odd": {"n": 300007, "held_out": True},
}
ON_PROCESSORS = {"long": {"n": 262144}, "short": {"n": 65536}, "odd": {"n": 30011}}


class Model(nn.Module):
    """The mean of lgamma(abs(x) + 1)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.lgamma(x.abs() + 1).mean()


def get_inputs(n: int) -> list[torch.Tensor]:
    return [torch.randn(n)]
