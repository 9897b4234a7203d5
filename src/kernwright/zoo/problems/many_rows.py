"""RMS normalisation of very many short rows: more of them than a grid is high."""

import torch
from torch import nn

NAME = "many_rows"
WORKLOADS = {
    "many": {"rows": 131072, "cols": 64, "weight": 2.0},
    "few": {"rows": 4096, "cols": 64},
    "odd": {"rows": 70001, "cols": 61, "held_out": True},
}


class Model(nn.Module):
    """Rows whose mean square is one."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-6)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
