"""A product with a matrix of eight-bit codes, each row of which has a scale and a zero point, in buffers."""

import torch
from torch import nn

NAME = "zero_points"
WORKLOADS = {
    "more": {"batch": 8, "weight": 2.0},
    "few": {"batch": 4},
    "odd": {"batch": 3, "held_out": True},
}


class Model(nn.Module):
    """x @ ((codes - zero) * scale)', with zero points as they are before anything was observed."""

    codes: torch.Tensor
    scale: torch.Tensor
    zero: torch.Tensor

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.register_buffer("codes", torch.randint(-128, 128, (hidden, features), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(hidden, 1) * 0.01 + 0.001)
        self.register_buffer("zero", torch.zeros(hidden, 1, dtype=torch.int8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.linear(x, (self.codes.float() - self.zero.float()) * self.scale)


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 512)]


def get_init_inputs() -> list[int]:
    return [512, 1024]
