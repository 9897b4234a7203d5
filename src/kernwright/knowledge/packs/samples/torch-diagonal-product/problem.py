"""A product with a diagonal matrix that is built before it is multiplied, then scaled and shifted."""

import torch
from torch import nn

NAME = "diagonal_product"
WORKLOADS = {
    "square": {"rows": 512, "cols": 768, "weight": 2.0},
    "odd": {"rows": 301, "cols": 77},
    "tiny": {"rows": 5, "cols": 9, "held_out": True},
}


class Model(nn.Module):
    """diag(a) @ b * scale + shift."""

    def __init__(self, cols: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(1.0 + 0.1 * torch.randn(cols))
        self.shift = nn.Parameter(torch.randn(cols))

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.diag(a) @ b * self.scale + self.shift


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows), torch.randn(rows, cols)]


def get_init_inputs(cols: int) -> list[int]:
    return [cols]
