"""A gate made of half of an orthogonal basis, which a buffer holds."""

import torch
from torch import nn

NAME = "shared_subspace"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """x relu(H H')."""

    basis: torch.Tensor

    def __init__(self, n: int) -> None:
        super().__init__()
        self.register_buffer("basis", torch.linalg.qr(torch.randn(n, n))[0])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        half = self.basis[:, : self.basis.shape[1] // 2]
        return x @ torch.relu(half @ half.t())


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 512)]


def get_init_inputs() -> list[int]:
    return [512]
