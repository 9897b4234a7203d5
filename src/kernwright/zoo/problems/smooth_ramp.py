"""A smooth ramp and its gradient, which can be made in one pass over the input."""

import torch
from torch import nn

NAME = "smooth_ramp"
BACKWARD = True
WORKLOADS = {
    "tall": {"rows": 192, "weight": 2.0},
    "flat": {"rows": 48},
    "odd": {"rows": 37, "held_out": True},
}


class Model(nn.Module):
    """x sigmoid(x) + log(1 + exp(x))."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(x) + nn.functional.softplus(x)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 2048)]
