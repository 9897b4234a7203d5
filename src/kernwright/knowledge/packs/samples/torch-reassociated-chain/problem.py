"""A product of three matrices and a sum over its columns, in the order in which someone wrote it down."""

import torch
from torch import nn

NAME = "matrix_chain_rowsum"
WORKLOADS = {
    "deep": {"rows": 256, "inner": 512, "cols": 512, "weight": 2.0},
    "odd": {"rows": 301, "inner": 77, "cols": 509},
    "tiny": {"rows": 5, "inner": 9, "cols": 7, "held_out": True},
}


class Model(nn.Module):
    """Row sums of (a @ b) @ c."""

    def forward(self, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        return ((a @ b) @ c).sum(dim=1)


def get_inputs(rows: int, inner: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, inner), torch.randn(inner, cols), torch.randn(cols, rows)]
