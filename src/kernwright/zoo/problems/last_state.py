"""The state that a selective accumulation ends in."""

import torch
from torch import nn

NAME = "last_state"
WORKLOADS = {
    "long": {"rows": 64, "steps": 8192, "weight": 2.0},
    "short": {"rows": 128, "steps": 2048},
    "odd": {"rows": 7, "steps": 4099, "held_out": True},
}
ON_PROCESSORS = {"long": {"rows": 16}, "short": {"rows": 32}}


class Model(nn.Module):
    """Each step forgets as much as it takes in."""

    def forward(self, gate: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        step = nn.functional.softplus(gate)
        left = step.double().flip(1).cumsum(1).flip(1) - step.double()
        return (torch.exp(-left) * step * x).sum(1).float()


def get_inputs(rows: int, steps: int) -> list[torch.Tensor]:
    return [torch.randn(rows, steps) * 0.2 - 0.5, torch.randn(rows, steps)]
