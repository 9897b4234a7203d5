"""A product with a matrix that lies there as eight-bit codes with a scale for each column, in buffers."""

import torch
from torch import nn

NAME = "dequantised"
WORKLOADS = {
    "batch": {"batch": 64, "weight": 2.0},
    "small": {"batch": 16},
    "odd": {"batch": 7, "held_out": True},
}


class Model(nn.Module):
    """(x * window) @ (codes * scale); the window is the same whatever the seed."""

    codes: torch.Tensor
    scale: torch.Tensor
    window: torch.Tensor

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.register_buffer("codes", torch.randint(-127, 128, (features, hidden), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(hidden) * 0.01 + 0.002)
        self.register_buffer("window", torch.linspace(0.5, 1.0, features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * self.window) @ (self.codes.float() * self.scale)


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 768)]


def get_init_inputs() -> list[int]:
    return [768, 512]
