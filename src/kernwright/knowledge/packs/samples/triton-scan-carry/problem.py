"""An exponential moving average along rows, y[t] = a[t] * y[t - 1] + x[t]: a recurrence that is a scan."""

import torch
from torch import nn

NAME = "gated_recurrence"
WORKLOADS = {
    "long": {"rows": 8, "steps": 2048, "weight": 2.0},
    "many": {"rows": 40, "steps": 200},
    "few": {"rows": 3, "steps": 21, "held_out": True},
}


class Model(nn.Module):
    """y[:, t] = gate[:, t] * y[:, t - 1] + x[:, t], gates between 0 and 1."""

    def forward(self, x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        gate, state, states = torch.sigmoid(gate), torch.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            state = gate[:, t] * state + x[:, t]
            states.append(state)
        return torch.stack(states, dim=1)


def get_inputs(rows: int, steps: int) -> list[torch.Tensor]:
    return [torch.randn(rows, steps), torch.randn(rows, steps) + 1.0]
