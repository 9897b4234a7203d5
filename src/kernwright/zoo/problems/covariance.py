"""Second moments of features that have other units each, from a thousandth to a thousand."""

import torch
from torch import nn

NAME = "covariance"
WORKLOADS = {
    "wide": {"rows": 4096, "cols": 512, "weight": 2.0},
    "narrow": {"rows": 2048, "cols": 256},
    "odd": {"rows": 1003, "cols": 131, "held_out": True},
}
ON_PROCESSORS = {"wide": {"rows": 1024}, "narrow": {"rows": 512}}


class Model(nn.Module):
    """x' x / rows."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.T @ x / x.shape[0]


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) * torch.logspace(-3, 3, cols)]
