"""The sum of what several heads make of each row, each by the share of its gate; a gate below 0 closes its head."""

import torch
from torch import nn

NAME = "gated_heads"
WORKLOADS = {
    "large": {"rows": 64, "weight": 2.0},
    "small": {"rows": 32},
    "odd": {"rows": 37, "held_out": True},
}


class Model(nn.Module):
    """All gates of a fresh one are 1."""

    def __init__(self, heads: int, width: int) -> None:
        super().__init__()
        self.gates = nn.Parameter(torch.ones(heads))
        self.weight = nn.Parameter(torch.randn(heads, width, width) / width**0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        opened = torch.relu(self.gates)
        return torch.einsum("bi,hio,h->bo", x, self.weight, opened / opened.sum())


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 256)]


def get_init_inputs() -> list[int]:
    return [16, 256]
