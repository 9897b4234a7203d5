"""How long the likeliest token of each recording stays the same."""

import torch
from torch import nn

NAME = "token_durations"
WORKLOADS = {
    "long": {"batch": 16, "frames": 1024, "tokens": 32, "weight": 2.0},
    "short": {"batch": 64, "frames": 256, "tokens": 32},
    "odd": {"batch": 3, "frames": 777, "tokens": 32, "held_out": True},
}


class Model(nn.Module):
    """Frames of the longest stretch."""

    def forward(self, logits: torch.Tensor) -> torch.Tensor:
        token = logits.argmax(-1)
        same = (token[:, 1:] == token[:, :-1]).long()
        count = same.cumsum(1)
        before = torch.where(same == 0, count, 0).cummax(1).values
        return (count - before).amax(1) + 1


def get_inputs(batch: int, frames: int, tokens: int) -> list[torch.Tensor]:
    return [torch.randn(batch, frames, tokens)]
