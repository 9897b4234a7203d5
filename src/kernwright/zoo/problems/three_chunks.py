"""Three matrices that are parts of one, none of them a parameter."""

import torch
from torch import nn

NAME = "three_chunks"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """(x U) (D O)."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.up, self.down, self.out = (torch.randn(3 * n, n) / n**0.5).chunk(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = (x @ self.up) @ (self.down @ self.out)
        return made


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 512)]


def get_init_inputs() -> list[int]:
    return [512]
