"""What stands between two blocks of a language model: residual sum, RMSNorm, weight and SiLU gate."""

import torch
from torch import nn

NAME = "residual_rmsnorm_gate"
WORKLOADS = {
    "prompt": {"rows": 512, "cols": 2048, "weight": 2.0},
    "wide": {"rows": 96, "cols": 8192},
    "ragged": {"rows": 701, "cols": 771},
    "single": {"rows": 1, "cols": 515, "held_out": True},
}


class Model(nn.Module):
    """rmsnorm(x + residual) * weight * silu(gate), and the sum itself."""

    def __init__(self, cols: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(cols))

    def forward(self, x: torch.Tensor, residual: torch.Tensor, gate: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = x + residual
        scale = torch.rsqrt(total.pow(2).mean(dim=-1, keepdim=True) + 1e-6)
        return total * scale * self.weight * torch.nn.functional.silu(gate), total


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) for _ in range(3)]


def get_init_inputs(cols: int) -> list[int]:
    return [cols]
