"""Log-softmax of masked scores: -inf where the mask is off, NaN in rows that are masked altogether."""

import torch
from torch import nn

NAME = "masked_log_softmax"
WORKLOADS = {
    "masked": {"rows": 256, "cols": 2048, "blank": 0, "weight": 2.0},
    "blank_rows": {"rows": 256, "cols": 1024, "blank": 3},
    "odd": {"rows": 63, "cols": 777, "blank": 1, "held_out": True},
}


class Model(nn.Module):
    """log_softmax over the kept entries of each row."""

    def forward(self, x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(x.masked_fill(~keep, float("-inf")), dim=-1)


def get_inputs(rows: int, cols: int, blank: int) -> list[torch.Tensor]:
    keep = torch.rand(rows, cols) > 0.25
    keep[:blank] = False
    return [torch.randn(rows, cols), keep]
