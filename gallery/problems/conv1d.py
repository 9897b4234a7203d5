"""A one-dimensional convolution in half precision, as sequence models of recommendation systems use it.

Batch, channels in and out and length of `published`, and of the first held-out workload, are those that KernelEvolve
reports (arXiv 2512.23236). Its width of three with padding, its bias and the second held-out shape are ours.
"""

import torch
from torch import nn

NAME = "conv1d"
RULES = {"precision": "float16"}
WORKLOADS = {
    "published": {"batch": 2048, "channels": 96, "filters": 96, "length": 200},
    "wide": {"batch": 64, "channels": 768, "filters": 768, "length": 1024, "held_out": True},
    "ragged": {"batch": 5, "channels": 40, "filters": 56, "length": 131, "held_out": True},
}


class Model(nn.Module):
    """(batch, channels, length) to (batch, filters, length)."""

    def __init__(self, channels: int, filters: int, width: int = 3) -> None:
        super().__init__()
        self.conv = nn.Conv1d(channels, filters, width, padding=width // 2)
        nn.init.normal_(self.conv.bias)  # PyTorch's own draw is so small that a kernel without it would pass

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs(batch: int, channels: int, length: int) -> list[torch.Tensor]:
    return [torch.randn(batch, channels, length)]


def get_init_inputs(channels: int, filters: int) -> list[int]:
    return [channels, filters]
