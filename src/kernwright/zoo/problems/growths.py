"""What becomes of amounts that grow at rates of their own: most are small beside a few."""

import torch
from torch import nn

NAME = "growths"
WORKLOADS = {
    "large": {"rows": 256, "cols": 1024, "weight": 2.0},
    "small": {"rows": 64, "cols": 1024},
    "odd": {"rows": 37, "cols": 777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, amounts: torch.Tensor, rates: torch.Tensor) -> torch.Tensor:
        return amounts * torch.exp(4.0 * rates)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols), torch.randn(rows, cols)]
