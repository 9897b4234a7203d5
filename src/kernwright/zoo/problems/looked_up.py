"""Values that stand beside keys in a table, 0 for a key that is not in it."""

import torch
from torch import nn

NAME = "looked_up"
WORKLOADS = {
    "large": {"asked": 4096, "known": 256, "weight": 2.0},
    "small": {"asked": 2048, "known": 256},
    "odd": {"asked": 777, "known": 123, "held_out": True},
}


class Model(nn.Module):
    def forward(self, asked: torch.Tensor, known: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        found = asked[:, None] == known[None, :]
        return asked.double().log1p().float() + torch.where(found, values, 0.0).sum(-1)


def get_inputs(asked: int, known: int) -> list[torch.Tensor]:
    return [torch.randint(0, 2**40, (asked,)), torch.randint(0, 2**40, (known,)), torch.randn(known)]
