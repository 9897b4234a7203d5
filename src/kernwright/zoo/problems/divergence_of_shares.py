"""Divergence of two distributions, one of each row: what a model says, and shares that were given."""

import torch
from torch import nn

NAME = "divergence_of_shares"
WORKLOADS = {
    "few": {"rows": 512, "weight": 2.0},
    "more": {"rows": 1024},
    "odd": {"rows": 77, "held_out": True},
}
ON_PROCESSORS = {"few": {"rows": 128}, "more": {"rows": 256}}


class Model(nn.Module):
    """Of each row, to the shares from the softmax of the scores."""

    def forward(self, scores: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
        return nn.functional.kl_div(torch.log_softmax(scores, -1), shares, reduction="none").sum(-1)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 1024), torch.softmax(torch.randn(rows, 1024), -1)]
