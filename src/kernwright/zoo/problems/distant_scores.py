"""Attention weights of scores less the distance of places, which is the same both ways."""

import torch
from torch import nn

NAME = "distant_scores"
WORKLOADS = {
    "long": {"heads": 4, "n": 512, "weight": 2.0},
    "short": {"heads": 8, "n": 256},
    "odd": {"heads": 3, "n": 133, "held_out": True},
}


class Model(nn.Module):
    """The softmax of each row."""

    def forward(self, scores: torch.Tensor, distance: torch.Tensor) -> torch.Tensor:
        return torch.softmax(scores - distance, dim=-1)


def get_inputs(heads: int, n: int) -> list[torch.Tensor]:
    places = torch.rand(n, 3)
    return [torch.randn(heads, n, n), torch.cdist(places, places, compute_mode="donot_use_mm_for_euclid_dist")]
