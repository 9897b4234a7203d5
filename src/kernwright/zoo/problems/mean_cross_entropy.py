"""One number for a batch: the mean cross entropy of a classifier's last layer."""

import torch
from torch import nn
from torch.nn import functional

NAME = "mean_cross_entropy"
WORKLOADS = {
    "many": {"rows": 4096, "width": 128, "classes": 256},
    "wide": {"rows": 4096, "width": 96, "classes": 192},
    "odd": {"rows": 517, "width": 131, "classes": 301, "held_out": True},
}
ON_PROCESSORS = {"many": {"rows": 1024}, "wide": {"rows": 1024}}


class Model(nn.Module):
    """Of x @ w and labels."""

    def forward(self, x: torch.Tensor, w: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(x @ w, labels)


def get_inputs(rows: int, width: int, classes: int) -> list[torch.Tensor]:
    weights = torch.randn(width, classes) / width**0.5
    return [torch.randn(rows, width), weights, torch.randint(0, classes, (rows,))]
