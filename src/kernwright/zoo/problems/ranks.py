"""How important each page is: fifty steps of the power method on links of various weights."""

import torch
from torch import nn

NAME = "ranks"
WORKLOADS = {
    "large": {"pages": 1024, "weight": 2.0},
    "small": {"pages": 768},
    "odd": {"pages": 517, "held_out": True},
}


class Model(nn.Module):
    def forward(self, weights: torch.Tensor) -> torch.Tensor:
        chances = weights / weights.sum(-1, keepdim=True).clamp_min(1e-12)
        pages = len(chances)
        rank = chances.new_full((pages,), 1.0 / pages)
        for _ in range(50):
            rank = 0.85 * (rank @ chances) + 0.15 / pages
        return rank


def get_inputs(pages: int) -> list[torch.Tensor]:
    return [torch.rand(pages, pages)]
