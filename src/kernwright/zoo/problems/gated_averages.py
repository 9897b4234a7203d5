"""Averages that run along sequences, with a gate at each step that says how much of the past stays."""

import torch
from torch import nn

NAME = "gated_averages"
WORKLOADS = {
    "long": {"batch": 4, "steps": 256, "weight": 2.0},
    "short": {"batch": 4, "steps": 128},
    "odd": {"batch": 3, "steps": 177, "held_out": True},
}


class Model(nn.Module):
    """h = sigmoid(gate) h + (1 - sigmoid(gate)) x, step by step."""

    def forward(self, gates: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        kept, state, states = torch.sigmoid(gates), torch.zeros_like(x[:, 0]), list[torch.Tensor]()
        for step in range(x.shape[1]):
            state = kept[:, step] * state + (1 - kept[:, step]) * x[:, step]
            states.append(state)
        return torch.stack(states, 1)


def get_inputs(batch: int, steps: int) -> list[torch.Tensor]:
    return [torch.randn(batch, steps, 64), torch.randn(batch, steps, 64)]
