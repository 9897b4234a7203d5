"""A block whose branch counts for next to nothing before it was trained."""

import torch
from torch import nn

NAME = "small_branch"
WORKLOADS = {
    "large": {"rows": 512, "weight": 2.0},
    "small": {"rows": 384},
    "odd": {"rows": 301, "held_out": True},
}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(256)
        self.up = nn.Linear(256, 512)
        self.down = nn.Linear(512, 256)
        self.scale = nn.Parameter(1e-6 * torch.ones(256))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        branch: torch.Tensor = self.down(nn.functional.gelu(self.up(self.norm(x))))
        return x + self.scale * branch


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 256)]
