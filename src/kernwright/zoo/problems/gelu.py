"""Scale, shift and exact GELU, element by element."""

import torch
from torch import nn

NAME = "gelu"
WORKLOADS = {
    "square": {"rows": 512, "cols": 2048, "weight": 2.0},
    "tall": {"rows": 4096, "cols": 96},
    "odd": {"rows": 77, "cols": 1031, "held_out": True},
}
ON_PROCESSORS = {"square": {"rows": 128}, "tall": {"rows": 2048}}


class Model(nn.Module):
    """gelu(x * a + b) with one `a` and `b` a column."""

    def forward(self, x: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(x * a + b)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols), torch.randn(cols), torch.randn(cols)]
