"""Causal depthwise convolution over time with SiLU: four taps a channel, as in state-space models."""

import torch
from torch import nn

NAME = "causal_conv1d_silu"
WORKLOADS = {
    "sequence": {"batch": 2, "channels": 128, "length": 2048, "weight": 2.0},
    "odd": {"batch": 3, "channels": 37, "length": 1001},
    "few": {"batch": 1, "channels": 5, "length": 9, "held_out": True},
}


class Model(nn.Module):
    """silu(conv(x)) where output t sees inputs t - 3 to t."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, kernel_size=4, padding=3, groups=channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.silu(self.conv(x)[..., : x.shape[-1]])


def get_inputs(batch: int, channels: int, length: int) -> list[torch.Tensor]:
    return [torch.randn(batch, channels, length)]


def get_init_inputs(channels: int) -> list[int]:
    return [channels]
