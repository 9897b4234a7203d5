"""What it costs to store activations in bfloat16, beside how large these are."""

import torch
from torch import nn

NAME = "storage_noise"
WORKLOADS = {
    "large": {"rows": 4096, "cols": 2048, "weight": 2.0},
    "small": {"rows": 1024, "cols": 1024},
    "odd": {"rows": 119, "cols": 777, "held_out": True},
}
ON_PROCESSORS = {"large": {"rows": 512, "cols": 1024}, "small": {"rows": 256, "cols": 1024}}


class Model(nn.Module):
    """Each row's mean size, and the median of what rounding leaves of it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        error = x - x.bfloat16().float()
        return torch.stack([x.abs().mean(dim=1), error.abs().median(dim=1).values], dim=1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols)]
