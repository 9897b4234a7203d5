"""Groups of features turned by exponentials of skew matrices, as orthogonal fine-tuning does."""

import torch
from torch import nn

NAME = "turned_groups"
WORKLOADS = {
    "more": {"batch": 128, "weight": 2.0},
    "few": {"batch": 32},
    "odd": {"batch": 19, "held_out": True},
}


class Model(nn.Module):
    """x exp(s - s') of each group."""

    def __init__(self, groups: int, width: int) -> None:
        super().__init__()
        self.skew = nn.Parameter(torch.randn(groups, width, width) * 0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.einsum("gbi,gij->gbj", x, torch.matrix_exp(self.skew - self.skew.mT))


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(64, batch, 32)]


def get_init_inputs() -> list[int]:
    return [64, 32]
