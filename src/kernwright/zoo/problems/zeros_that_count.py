"""Two products, with a matrix and with what its zeros say."""

import torch
from torch import nn

NAME = "zeros_that_count"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """x lgamma(1 + Z Z') + x W, where Z marks W's zeros."""

    weight: torch.Tensor

    def __init__(self, n: int) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randn(n, n) * (torch.rand(n, n) > 0.15))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        zeros = (self.weight == 0).to(x.dtype)
        return x @ torch.lgamma(1 + zeros @ zeros.t()) + x @ self.weight


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 384)]


def get_init_inputs() -> list[int]:
    return [384]
