"""A gate made of how often codes come, which a buffer holds."""

import torch
from torch import nn

NAME = "gate_of_counts"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """x lgamma(1 + counts counts')."""

    codes: torch.Tensor

    def __init__(self, n: int) -> None:
        super().__init__()
        self.register_buffer("codes", torch.randint(0, n, (4 * n,)))
        self.n = n

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        counts = torch.bincount(self.codes, minlength=self.n).to(x.dtype)
        return x @ torch.lgamma(1 + counts[:, None] * counts[None, :])


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 512)]


def get_init_inputs() -> list[int]:
    return [512]
