"""After how many tokens each row repeats itself to its end; its length where it does not."""

import torch
from torch import nn

NAME = "shortest_period"
WORKLOADS = {
    "many": {"rows": 16, "length": 384, "weight": 2.0},
    "few": {"rows": 8, "length": 384},
    "odd": {"rows": 5, "length": 333, "held_out": True},
}
ON_PROCESSORS = {"many": {"rows": 4}, "few": {"rows": 2}, "odd": {"rows": 3}}


class Model(nn.Module):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        length = tokens.shape[-1]
        steps = torch.arange(1, length, device=tokens.device)
        there = steps[:, None] + torch.arange(length, device=tokens.device)
        same = tokens[:, there.clamp(max=length - 1)] == tokens[:, None]
        return torch.where((same | (there >= length)).all(-1), steps, length).amin(-1)


def get_inputs(rows: int, length: int) -> list[torch.Tensor]:
    return [torch.randint(0, 50000, (rows, length))]
