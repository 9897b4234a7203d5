"""A product with two matrices that the module holds in a list, as neither parameters nor buffers."""

import torch
from torch import nn

NAME = "held_in_a_list"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """x (A B) + c."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.factors = [torch.randn(n, n) / n**0.5 for _ in range(2)]
        self.shift = torch.randn(n)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = x @ (self.factors[0] @ self.factors[1]) + self.shift
        return made


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 512)]


def get_init_inputs() -> list[int]:
    return [512]
