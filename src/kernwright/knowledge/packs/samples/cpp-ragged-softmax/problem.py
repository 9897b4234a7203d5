"""Softmax over the first elements of each row, as many as its length says; zeros beyond."""

import torch
from torch import nn

NAME = "ragged_softmax"
WORKLOADS = {
    "scores": {"rows": 2048, "longest": 256, "weight": 2.0},
    "long": {"rows": 60, "longest": 8000},
    "few": {"rows": 6, "longest": 41, "held_out": True},
}


class Model(nn.Module):
    """softmax(x[r, :lengths[r]]), padded with zeros; any lengths from 1 to the width of x make sense."""

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        beyond = torch.arange(x.shape[1], device=x.device) >= lengths.unsqueeze(1)
        return torch.softmax(x.masked_fill(beyond, -torch.inf), dim=-1)


def get_inputs(rows: int, longest: int) -> list[torch.Tensor]:
    return [torch.randn(rows, longest) * 3.0, torch.randint(1, longest + 1, (rows,))]
