"""A product with a matrix that lies there as eight-bit floats with a scale for each column, in buffers."""

import torch
from torch import nn

NAME = "eight_bit_floats"
WORKLOADS = {
    "batch": {"batch": 32, "weight": 2.0},
    "small": {"batch": 8},
    "odd": {"batch": 7, "held_out": True},
}


class Model(nn.Module):
    """x @ (codes * scale)."""

    codes: torch.Tensor
    scale: torch.Tensor

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.register_buffer("codes", torch.randn(features, hidden).to(torch.float8_e4m3fn))
        self.register_buffer("scale", torch.rand(hidden) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x @ self.codes.to(x.dtype)) * self.scale


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 512)]


def get_init_inputs() -> list[int]:
    return [512, 384]
