"""Sums of embeddings, none of which is longer than a bound."""

import torch
from torch import nn

NAME = "bounded_embedding"
WORKLOADS = {
    "large": {"rows": 256, "weight": 2.0},
    "small": {"rows": 128},
    "odd": {"rows": 77, "held_out": True},
}
ON_PROCESSORS = {"large": {"rows": 64}, "small": {"rows": 32}, "odd": {"rows": 21}}


class Model(nn.Module):
    """What is longer than 20 is shortened to that in the table itself."""

    def __init__(self, tokens: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(tokens, width, max_norm=20.0)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        # Of a matrix of tokens a GPU may shorten a row twice at once, where two lines name it.
        found: torch.Tensor = self.table(tokens.flatten())
        return found.view(*tokens.shape, -1).sum(1)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randint(0, 5000, (rows, 32))]


def get_init_inputs() -> list[int]:
    return [5000, 64]
