"""In what order the tokens of each row are by size."""

import torch
from torch import nn

NAME = "token_order"
WORKLOADS = {
    "large": {"rows": 64, "columns": 1024, "weight": 2.0},
    "small": {"rows": 32, "columns": 512},
    "odd": {"rows": 37, "columns": 777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return tokens.argsort(-1)


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [torch.randint(0, 2**50, (rows, columns))]
