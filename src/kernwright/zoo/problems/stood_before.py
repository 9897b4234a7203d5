"""How long the stretch at the end of each history is that stood in it before."""

import torch
from torch import nn

NAME = "stood_before"
WORKLOADS = {
    "many": {"rows": 16, "length": 512, "weight": 2.0},
    "few": {"rows": 8, "length": 512},
    "odd": {"rows": 5, "length": 333, "held_out": True},
}
ON_PROCESSORS = {"many": {"rows": 4}, "few": {"rows": 2}, "odd": {"rows": 3}}


class Model(nn.Module):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        back, length = tokens.flip(-1), tokens.shape[-1]
        longest = torch.zeros_like(tokens[:, 0])
        for step in range(1, length):
            same = (back[:, step:] == back[:, : length - step]).long()
            longest = torch.maximum(longest, same.cumprod(-1).sum(-1))
        return longest


def get_inputs(rows: int, length: int) -> list[torch.Tensor]:
    return [torch.randint(0, 256, (rows, length))]
