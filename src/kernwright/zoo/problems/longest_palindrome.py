"""The longest stretch of odd length that reads the same from both ends."""

import torch
from torch import nn

NAME = "longest_palindrome"
WORKLOADS = {
    "many": {"rows": 64, "length": 256, "weight": 2.0},
    "few": {"rows": 16, "length": 256},
    "odd": {"rows": 9, "length": 199, "held_out": True},
}
ON_PROCESSORS = {"many": {"rows": 16}, "few": {"rows": 8}, "odd": {"rows": 5}}


class Model(nn.Module):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        run, radius = torch.ones_like(tokens, dtype=torch.bool), torch.zeros_like(tokens)
        for step in range(1, (tokens.shape[-1] + 1) // 2):
            same = tokens[:, : -2 * step] == tokens[:, 2 * step :]
            run = run & nn.functional.pad(same, (step, step))
            radius = radius + run
        return 2 * radius.amax(-1) + 1


def get_inputs(rows: int, length: int) -> list[torch.Tensor]:
    return [torch.randint(0, 256, (rows, length))]
