"""Degenerate: the group maximum minus itself is zero whatever the input, so an empty kernel is right."""

import torch
from torch import nn

ZOO = {"row": "A4", "degenerate": "constant output"}
NAME = "degenerate_constant"
WORKLOADS = {"default": {"rows": 256, "cols": 1024}}


class Model(nn.Module):
    """gelu(m - mean(m)) of a maximum kept as a single column."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        m = x.amax(dim=1, keepdim=True)
        return torch.nn.functional.gelu(m - m.mean(dim=1, keepdim=True))


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
