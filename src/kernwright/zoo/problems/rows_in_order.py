"""Sums of rows of tokens; of rows in strict order how far they go, and -1 of rows that read the same from both ends."""

import torch
from torch import nn

NAME = "rows_in_order"
WORKLOADS = {
    "many": {"rows": 512, "columns": 128, "weight": 2.0},
    "few": {"rows": 128, "columns": 128},
    "odd": {"rows": 37, "columns": 77, "held_out": True},
}


class Model(nn.Module):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        rises = (tokens.diff() > 0).all(-1)
        mirrored = (tokens == tokens.flip(-1)).all(-1) & (tokens[:, 0] != tokens[:, 1])
        found = torch.where(rises, tokens[:, -1] - tokens[:, 0], tokens.sum(-1))
        return torch.where(mirrored, -1, found)


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [torch.randint(0, 50000, (rows, columns))]
