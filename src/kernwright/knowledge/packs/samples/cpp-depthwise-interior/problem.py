"""Depthwise 3x3 convolution with bias and ReLU6, padding 1."""

import torch
from torch import nn

NAME = "depthwise_relu6"
WORKLOADS = {
    "middle": {"channels": 48, "size": 96, "weight": 2.0},
    "early": {"channels": 12, "size": 224},
    "late": {"channels": 256, "size": 28},
    "odd": {"channels": 5, "size": 19, "held_out": True},
}


class Model(nn.Module):
    """relu6(conv(x)), one filter a channel."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, kernel_size=3, padding=1, groups=channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.relu6(self.conv(x))


def get_inputs(channels: int, size: int) -> list[torch.Tensor]:
    return [torch.randn(1, channels, size, size) * 3.0]


def get_init_inputs(channels: int) -> list[int]:
    return [channels]
