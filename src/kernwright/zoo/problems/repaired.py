"""What is no number is made one, then the GELU of it."""

import torch
from torch import nn

NAME = "repaired"
WORKLOADS = {
    "long": {"rows": 512, "cols": 4096, "weight": 2.0},
    "short": {"rows": 2048, "cols": 512},
    "odd": {"rows": 37, "cols": 3001, "held_out": True},
}
ON_PROCESSORS = {"long": {"rows": 128}, "short": {"rows": 512}}


class Model(nn.Module):
    """gelu(x), where NaN counts as 0 and infinities as 4 either way."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        known = torch.nan_to_num(x, nan=0.0, posinf=4.0, neginf=-4.0)
        return torch.nn.functional.gelu(known)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
