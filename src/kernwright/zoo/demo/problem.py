"""Residual addition, RMSNorm with a weight, and a SiLU gate: the glue between two blocks of a language model.

PyTorch runs it as nine operations, each of which reads and writes the whole tensor; one pass over memory is enough.
"""

import torch
from torch import nn

NAME = "rmsnorm_gate"
WORKLOADS = {
    "prompt": {"rows": 384, "cols": 2048, "weight": 2.0},
    "wide": {"rows": 96, "cols": 8192},
    "single": {"rows": 3, "cols": 515, "held_out": True},
}


class Model(nn.Module):
    """y = rmsnorm(x + residual) * weight * silu(gate), and the sum itself for the next block."""

    def __init__(self, cols: int, epsilon: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(cols))
        self.epsilon = epsilon

    def forward(self, x: torch.Tensor, residual: torch.Tensor, gate: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = x + residual
        scale = torch.rsqrt(total.pow(2).mean(dim=-1, keepdim=True) + self.epsilon)
        return total * scale * self.weight * torch.nn.functional.silu(gate), total


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) for _ in range(3)]


def get_init_inputs(cols: int) -> list[int]:
    return [cols]
