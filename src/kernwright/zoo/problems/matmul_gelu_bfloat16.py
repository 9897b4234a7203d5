"""A product of matrices in bfloat16, and what follows it: where rounding hides much."""

import torch
from torch import nn

NAME = "matmul_gelu_bfloat16"
WORKLOADS = {
    "square": {"n": 128, "k": 2048, "weight": 2.0},
    "shallow": {"n": 192, "k": 512},
    "odd": {"n": 33, "k": 1501, "held_out": True},
}
ON_PROCESSORS = {"square": {"n": 64}, "shallow": {"n": 96}}


class Model(nn.Module):
    """gelu(x @ w)."""

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(x @ w)


def get_inputs(n: int, k: int) -> list[torch.Tensor]:
    return [torch.randn(n, k, dtype=torch.bfloat16), torch.randn(k, n, dtype=torch.bfloat16)]
