"""The Yeo-Johnson transform of shares: half of the formula is for numbers below 0."""

import torch
from torch import nn

NAME = "yeo_johnson"
WORKLOADS = {
    "long": {"rows": 512, "cols": 1024, "weight": 2.0},
    "short": {"rows": 256, "cols": 512},
    "odd": {"rows": 37, "cols": 1003, "held_out": True},
}
ON_PROCESSORS = {"long": {"rows": 128}, "short": {"rows": 64}}


class Model(nn.Module):
    """A power of x + 1 from 0 on, another of 1 - x below."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        above = torch.pow(x.clamp(min=0) + 1, 0.4) - 1
        below = 1 - torch.pow(1 - x.clamp(max=0), 1.6)
        return torch.where(x >= 0, above / 0.4, below / 1.6)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.rand(rows, cols)]
