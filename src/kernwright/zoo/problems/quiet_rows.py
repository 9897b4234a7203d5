"""A normalisation of rows whose numbers are near each other."""

import torch
from torch import nn

NAME = "quiet rows"
WORKLOADS = {"rows": {"rows": 512}, "few": {"rows": 300}, "odd": {"rows": 77, "held_out": True}}
N = 1024


class Model(nn.Module):
    """silu(layer_norm(x)), of rows with a deviation of 0.1."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(N)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.silu(self.norm(x))


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, N) * 0.1]
