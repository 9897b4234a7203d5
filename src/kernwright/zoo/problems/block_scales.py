"""Numbers in blocks of 32, each with a scale that is a power of two."""

import torch
from torch import nn

NAME = "block_scales"
WORKLOADS = {
    "large": {"rows": 1024, "weight": 2.0},
    "small": {"rows": 256},
    "odd": {"rows": 77, "held_out": True},
}


class Model(nn.Module):
    """Scales as formats of few bits have them."""

    scale: torch.Tensor

    def __init__(self, features: int) -> None:
        super().__init__()
        self.register_buffer("scale", 2.0 ** torch.randint(-6, 7, (features // 32,)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.view(len(x), -1, 32) * self.scale[:, None]).flatten(1)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 1024)]


def get_init_inputs() -> list[int]:
    return [1024]
