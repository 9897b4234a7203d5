"""A picture in bytes, and where it is bright: results that are truth values and small integers."""

import torch
from torch import nn

NAME = "picture"
WORKLOADS = {
    "large": {"side": 512, "weight": 2.0},
    "small": {"side": 128},
    "odd": {"side": 333, "held_out": True},
}


class Model(nn.Module):
    """x > 0.25, and 255 x in bytes."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x > 0.25, (x.clamp(0, 1) * 255).to(torch.uint8)


def get_inputs(side: int) -> list[torch.Tensor]:
    return [torch.randn(side, side)]
