"""Layer normalisation with its own weights."""

import torch
from torch import nn

NAME = "layer_norm"
WORKLOADS = {
    "long": {"rows": 256, "weight": 2.0},
    "short": {"rows": 96},
    "odd": {"rows": 37, "held_out": True},
}


class Model(nn.Module):
    """Rows of mean zero and variance one, scaled and shifted."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed: torch.Tensor = self.norm(x)
        return normed


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 2048)]


def get_init_inputs() -> list[int]:
    return [2048]
