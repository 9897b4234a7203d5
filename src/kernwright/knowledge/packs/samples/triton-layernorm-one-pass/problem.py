"""LayerNorm with scale and shift, over rows of some hundreds to some thousands of columns."""

import torch
from torch import nn

NAME = "layernorm_gpu"
WORKLOADS = {
    "tokens": {"rows": 768, "cols": 768, "weight": 2.0},
    "wide": {"rows": 256, "cols": 8192},
    "odd": {"rows": 3, "cols": 333, "held_out": True},
}


class Model(nn.Module):
    """LayerNorm over the last dimension."""

    def __init__(self, cols: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(cols)
        nn.init.normal_(self.norm.weight, mean=1.0, std=0.1)
        nn.init.normal_(self.norm.bias, std=0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) * 2.0 + 0.5]


def get_init_inputs(cols: int) -> list[int]:
    return [cols]
