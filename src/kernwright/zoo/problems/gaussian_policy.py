"""Log probability of actions under a policy whose deviations are learned, within bounds."""

import torch
from torch import nn

NAME = "gaussian_policy"
WORKLOADS = {
    "large": {"rows": 16384, "weight": 2.0},
    "small": {"rows": 4096},
    "odd": {"rows": 777, "held_out": True},
}


class Model(nn.Module):
    """At the start each deviation is 1."""

    def __init__(self, actions: int) -> None:
        super().__init__()
        self.log_std = nn.Parameter(torch.zeros(actions))

    def forward(self, mean: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        log_std = self.log_std.clamp(-5.0, 5.0)
        distance = (action - mean) * torch.exp(-log_std)
        return (-0.5 * distance * distance - log_std - 0.9189385).sum(-1)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 64), torch.randn(rows, 64)]


def get_init_inputs() -> list[int]:
    return [64]
