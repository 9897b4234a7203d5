"""Two layers that a module has in a list, so that they are no modules of its own."""

import torch
from torch import nn

NAME = "layers_in_a_list"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """x (A B)."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.layers = [nn.Linear(n, n, bias=False) for _ in range(2)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ (self.layers[0].weight @ self.layers[1].weight)


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 384)]


def get_init_inputs() -> list[int]:
    return [384]
