"""Log-softmax of masked scores: -inf where the mask is off."""

import torch
from torch import nn

NAME = "masked_log_softmax"
WORKLOADS = {
    "masked": {"rows": 256, "cols": 2048, "weight": 2.0},
    "narrow": {"rows": 512, "cols": 384},
    "odd": {"rows": 63, "cols": 777, "held_out": True},
}


class Model(nn.Module):
    """log_softmax over the kept entries of each row."""

    def forward(self, x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(x.masked_fill(~keep, float("-inf")), dim=-1)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols), torch.rand(rows, cols) > 0.25]
