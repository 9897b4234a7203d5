"""A product with the row-wise softmax of a weight: half of its work is the same in every call."""

import torch
from torch import nn

NAME = "softmax_weight"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """x @ softmax(w)."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(n, n))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ torch.softmax(self.w, dim=-1)


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 1024)]


def get_init_inputs() -> list[int]:
    return [1024]
