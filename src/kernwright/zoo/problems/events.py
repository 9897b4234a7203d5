"""How fast a signal changes between events in order of time, of which two may be at one time."""

import torch
from torch import nn

NAME = "events"
WORKLOADS = {
    "large": {"count": 65536, "weight": 2.0},
    "small": {"count": 16384},
    "odd": {"count": 7777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, signal: torch.Tensor, times: torch.Tensor) -> torch.Tensor:
        later, change = times.diff(), signal.diff()
        return torch.where(later == 0, torch.erf(change), torch.tanh(change * later.log2() / 50))


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randn(count), torch.randint(0, 2**50, (count,)).sort().values]
