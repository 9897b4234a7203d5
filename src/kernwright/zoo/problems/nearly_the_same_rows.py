"""How many rows differ from each in two places at the most."""

import torch
from torch import nn

NAME = "nearly_the_same_rows"
WORKLOADS = {
    "many": {"rows": 256, "length": 64, "weight": 2.0},
    "few": {"rows": 128, "length": 64},
    "odd": {"rows": 77, "length": 50, "held_out": True},
}
ON_PROCESSORS = {"many": {"rows": 128}, "few": {"rows": 96}}


class Model(nn.Module):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return ((tokens[:, None] != tokens).sum(-1) <= 2).sum(-1)


def get_inputs(rows: int, length: int) -> list[torch.Tensor]:
    return [torch.randint(0, 50000, (rows, length))]
