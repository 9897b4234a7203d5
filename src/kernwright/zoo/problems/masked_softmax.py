"""Softmax of masked scores, where rows without any kept entry are 0: the reference makes NaN of those, and 0 of NaN."""

import torch
from torch import nn

NAME = "masked_softmax"
WORKLOADS = {
    "masked": {"rows": 256, "cols": 2048, "weight": 2.0},
    "narrow": {"rows": 512, "cols": 384},
    "odd": {"rows": 63, "cols": 777, "held_out": True},
}


class Model(nn.Module):
    """softmax over the kept entries of each row, 0 where there are none."""

    def forward(self, x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        kept = torch.softmax(x.masked_fill(~keep, float("-inf")), dim=-1)
        return torch.nan_to_num(kept)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols), (torch.rand(rows, cols) > 0.25) & (torch.rand(rows, 1) > 0.1)]
