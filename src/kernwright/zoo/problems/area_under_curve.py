"""The area under the ROC curve: how often a positive has a larger score than a negative."""

import torch
from torch import nn

NAME = "area_under_curve"
WORKLOADS = {
    "wide": {"rows": 16, "positives": 1024, "negatives": 4096, "weight": 2.0},
    "narrow": {"rows": 64, "positives": 256, "negatives": 512},
    "odd": {"rows": 3, "positives": 333, "negatives": 777, "held_out": True},
}
ON_PROCESSORS = {"wide": {"rows": 4}, "narrow": {"rows": 16}}


class Model(nn.Module):
    """Equal scores count one half."""

    def forward(self, positives: torch.Tensor, negatives: torch.Tensor) -> torch.Tensor:
        ordered = negatives.sort(-1).values
        below = torch.searchsorted(ordered, positives)
        not_above = torch.searchsorted(ordered, positives, right=True)
        return (below + not_above).double().mean(-1).float() / (2 * negatives.shape[-1])


def get_inputs(rows: int, positives: int, negatives: int) -> list[torch.Tensor]:
    return [torch.randn(rows, positives), torch.randn(rows, negatives)]
