"""A product with what the signs of two inputs make, which every draw has alike."""

import torch
from torch import nn

NAME = "signs_alone"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """x tanh(sign(a) sign(b) / 16)."""

    def forward(self, x: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return x @ torch.tanh(torch.sign(a) @ torch.sign(b) / 16)


def get_inputs(batch: int) -> list[torch.Tensor]:
    grid = torch.arange(512, dtype=torch.float32)
    a = torch.sin(grid[:, None] * (grid[None, :] + 0.5))
    return [torch.randn(batch, 512), a, torch.cos(2 * a + grid)]
