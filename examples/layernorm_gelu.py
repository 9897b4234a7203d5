"""LayerNorm followed by the exact GELU: a normalisation whose result is used once, by an activation.

The error function costs more arithmetic than everything else here together, and the normalised tensor never needs
to reach memory.
"""

import torch
from torch import nn

NAME = "layernorm_gelu"
WORKLOADS = {
    "tokens": {"rows": 4096, "cols": 768, "weight": 2.0},
    "wide": {"rows": 768, "cols": 4096},
    "small": {"rows": 20000, "cols": 130},
    "odd": {"rows": 3, "cols": 333, "held_out": True},
}


class Model(nn.Module):
    """gelu(layernorm(x)) over the last dimension, with scale and shift."""

    def __init__(self, cols: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(cols)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.1)
        nn.init.normal_(self.norm.bias, std=0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(self.norm(x))


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) * 2.0 + 0.5]


def get_init_inputs(cols: int) -> list[int]:
    return [cols]
