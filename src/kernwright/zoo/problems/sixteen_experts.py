"""The sixteen largest numbers of each row, as weights, and their places: now and then two of a million are equal."""

import torch
from torch import nn

NAME = "sixteen_experts"
WORKLOADS = {
    "large": {"rows": 512, "weight": 2.0},
    "small": {"rows": 256},
    "odd": {"rows": 77, "held_out": True},
}


class Model(nn.Module):
    """Largest first."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values, places = x.topk(16, -1)
        return values.softmax(-1), places


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 2048)]
