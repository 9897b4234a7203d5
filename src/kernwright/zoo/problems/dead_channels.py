"""Batch norm, SiLU and the mean over an image: training leaves some channels without any variance."""

import torch
from torch import nn

NAME = "dead_channels"
WORKLOADS = {
    "large": {"images": 16, "weight": 2.0},
    "small": {"images": 4},
    "odd": {"images": 3, "held_out": True},
}
ON_PROCESSORS = {"large": {"images": 4}, "small": {"images": 2}}


class Model(nn.Module):
    """The end of a network for images."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.silu(self.norm(x)).mean((2, 3))


def get_inputs(images: int) -> list[torch.Tensor]:
    return [torch.randn(images, 64, 64, 64)]


def get_init_inputs() -> list[int]:
    return [64]
