"""Eight-bit quantisation and back, with a step for each row."""

import torch
from torch import nn

NAME = "steps"
WORKLOADS = {"rows": {"rows": 512}, "few": {"rows": 300}, "odd": {"rows": 77, "held_out": True}}


class Model(nn.Module):
    """x in whole steps, by a gate."""

    def forward(self, x: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
        return torch.round(x / step).clamp(-128, 127) * step * torch.sigmoid(x)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 2048) * 20.0, torch.rand(rows, 1) * 0.5 + 0.25]
