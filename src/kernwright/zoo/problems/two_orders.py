"""A product with a table whose lines and columns two buffers put into other orders, each a seed's own."""

import torch
from torch import nn

NAME = "two_orders"
WORKLOADS = {
    "few": {"batch": 2},
    "more": {"batch": 4},
    "odd": {"batch": 3, "held_out": True},
}


class Model(nn.Module):
    """x table[lines][:, columns]."""

    lines: torch.Tensor
    columns: torch.Tensor
    table: torch.Tensor

    def __init__(self, n: int) -> None:
        super().__init__()
        grid = torch.arange(n, dtype=torch.float32)
        self.register_buffer("table", torch.cos(grid[:, None] * (grid[None, :] + 0.5)))
        self.register_buffer("lines", torch.randperm(n))
        self.register_buffer("columns", torch.randperm(n))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.table[self.lines][:, self.columns]


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 1024)]


def get_init_inputs() -> list[int]:
    return [1024]
