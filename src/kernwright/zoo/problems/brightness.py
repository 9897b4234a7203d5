"""How many pixels of an image have each brightness."""

import torch
from torch import nn

NAME = "brightness"
WORKLOADS = {
    "large": {"n": 1048576, "weight": 2.0},
    "small": {"n": 524288},
    "odd": {"n": 100003, "held_out": True},
}


class Model(nn.Module):
    """Of 256."""

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return torch.bincount(pixels, minlength=256)


def get_inputs(n: int) -> list[torch.Tensor]:
    return [torch.randint(0, 256, (n,), dtype=torch.uint8)]
