"""A row of zeros for each label, but for one number: results far larger than inputs."""

import torch
from torch import nn

NAME = "weighted_labels"
WORKLOADS = {
    "large": {"rows": 512, "width": 128, "weight": 2.0},
    "small": {"rows": 256, "width": 64},
    "odd": {"rows": 37, "width": 12, "held_out": True},
}


class Model(nn.Module):
    """rows x 64 width, the sum of each row of x at its label."""

    def forward(self, labels: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        table = torch.zeros(x.shape[0], x.shape[1] * 64, device=x.device)
        return table.scatter_(1, labels[:, None], x.sum(1, keepdim=True))


def get_inputs(rows: int, width: int) -> list[torch.Tensor]:
    return [torch.randint(0, width * 64, (rows,)), torch.randn(rows, width)]
