"""Degenerate: every output lies within 1e-6 of 1, under any usual tolerance, so ones are right."""

import torch
from torch import nn

ZOO = {"row": "A4", "degenerate": "tiny range"}
NAME = "degenerate_tiny_range"
WORKLOADS = {"default": {"rows": 256, "cols": 1024}}


class Model(nn.Module):
    """1 + 1e-6 * tanh(x)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 1.0 + 1e-6 * torch.tanh(x)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
