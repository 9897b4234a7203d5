"""A product with a matrix and its transpose, two buffers that lie in one another's memory."""

import torch
from torch import nn

NAME = "two_names_of_one"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """x (W W')."""

    full: torch.Tensor
    turned: torch.Tensor

    def __init__(self, n: int) -> None:
        super().__init__()
        self.register_buffer("full", torch.randn(n, n) / n**0.5)
        self.register_buffer("turned", self.full.t())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ (self.full @ self.turned)


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 384)]


def get_init_inputs() -> list[int]:
    return [384]
