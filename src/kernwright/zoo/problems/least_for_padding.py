"""Scores of attention, those of padding at the least number of their type, as masks of many models are."""

import torch
from torch import nn

NAME = "least_for_padding"
WORKLOADS = {
    "many": {"batch": 64, "length": 256, "weight": 2.0},
    "few": {"batch": 16, "length": 256},
    "odd": {"batch": 7, "length": 77, "held_out": True},
}
ON_PROCESSORS = {"many": {"batch": 8, "length": 256}, "few": {"batch": 4, "length": 128}}


class Model(nn.Module):
    def forward(self, scores: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        return scores.masked_fill(~keep.unsqueeze(1), torch.finfo(scores.dtype).min)


def get_inputs(batch: int, length: int) -> list[torch.Tensor]:
    lengths = torch.randint(1, length + 1, (batch, 1))
    return [torch.randn(batch, length, length), torch.arange(length) < lengths]
