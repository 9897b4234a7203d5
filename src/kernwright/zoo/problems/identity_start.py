"""A recurrent network of rectified units whose recurrent weight starts as the identity."""

import torch
from torch import nn

NAME = "identity_start"
WORKLOADS = {"long": {"steps": 32, "weight": 2.0}, "short": {"steps": 12}, "odd": {"steps": 7, "held_out": True}}


class Model(nn.Module):
    """Q. V. Le, N. Jaitly, G. E. Hinton, arXiv:1504.00941."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.into = nn.Linear(inputs, hidden)
        self.again = nn.Parameter(torch.eye(hidden))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        given = self.into(x)
        state = torch.zeros_like(given[:, 0])
        for step in range(given.shape[1]):
            state = torch.relu(given[:, step] + state @ self.again.T)
        return state


def get_inputs(steps: int) -> list[torch.Tensor]:
    return [torch.randn(16, steps, 64)]


def get_init_inputs() -> list[int]:
    return [64, 256]
