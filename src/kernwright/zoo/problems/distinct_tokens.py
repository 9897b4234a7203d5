"""How many different tokens of each row are large, and their sum: one that stands twice counts once."""

import torch
from torch import nn

NAME = "distinct_tokens"
WORKLOADS = {
    "large": {"rows": 64, "columns": 1024, "weight": 2.0},
    "small": {"rows": 32, "columns": 512},
    "odd": {"rows": 37, "columns": 777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        ordered = tokens.sort(-1).values
        large = ordered > 2**46
        large[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
        return large.sum(-1), torch.where(large, ordered, 0).sum(-1)


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [torch.randint(0, 2**47, (rows, columns))]
