"""The product of two means of each row's numbers, of those that one mask of floats keeps and of those of another."""

import torch
from torch import nn

NAME = "two_masks"
WORKLOADS = {
    "large": {"rows": 64, "columns": 128, "weight": 2.0},
    "small": {"rows": 32, "columns": 128},
    "odd": {"rows": 37, "columns": 99, "held_out": True},
}


class Model(nn.Module):
    def forward(self, x: torch.Tensor, keep: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        means = [(x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1) for mask in (keep, other)]
        return means[0] * means[1]


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [torch.randn(rows, columns, 128), *((torch.rand(rows, columns) < 0.3).float() for _ in range(2))]
