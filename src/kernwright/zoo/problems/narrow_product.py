"""A product in float32 of which bfloat16 is kept: its rounding is as large as that of narrow operands."""

import torch
from torch import nn

NAME = "narrow_product"
WORKLOADS = {
    "square": {"m": 512, "n": 512, "k": 1024, "weight": 2.0},
    "deep": {"m": 256, "n": 256, "k": 4096},
    "odd": {"m": 193, "n": 131, "k": 1027, "held_out": True},
}
ON_PROCESSORS = {"square": {"m": 256}, "deep": {"m": 128}}


class Model(nn.Module):
    """x @ w, rounded."""

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (x @ w).to(torch.bfloat16)


def get_inputs(m: int, n: int, k: int) -> list[torch.Tensor]:
    return [torch.randn(m, k), torch.randn(k, n) / (4 * k**0.5)]
