"""The gradients of RMSNorm: what reaches its input, row by row, and its weight, summed over all rows.

KernelEvolve reports a speedup for it and no shapes (arXiv 2512.23236): those here are ours. It is stated as a function
from input, weight and the output's gradient to both gradients, so that nothing but the backward pass is timed.
"""

import torch
from torch import nn

NAME = "rmsnorm_backward"
WORKLOADS = {
    "language": {"rows": 8192, "columns": 4096},
    "narrow": {"rows": 131072, "columns": 256},
    "middle": {"rows": 16384, "columns": 1024},
    "ragged": {"rows": 1501, "columns": 771, "held_out": True},
    "single": {"rows": 1, "columns": 2048, "held_out": True},
}


class Model(nn.Module):
    """x and dy of (rows, columns) and the weight of (columns) to dx of (rows, columns) and dw of (columns)."""

    def forward(self, x: torch.Tensor, weight: torch.Tensor, dy: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        inverse = torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-6)
        normed = x * inverse
        weighted = dy * weight
        dx = (weighted - normed * (weighted * normed).mean(dim=-1, keepdim=True)) * inverse
        return dx, (dy * normed).sum(dim=0)


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [torch.randn(rows, columns), 1.0 + 0.1 * torch.randn(columns), torch.randn(rows, columns)]
