"""A problem in KernelBench's form, nothing added: `Model`, `get_inputs`, `get_init_inputs` and constants.

Such a file has one workload, the one that its generator makes.
"""

import torch
from torch import nn

BATCH, FEATURES, HIDDEN = 256, 512, 768


class Model(nn.Module):
    """relu(linear(x)) scaled by a learned vector."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.linear = nn.Linear(features, hidden)
        self.scale = nn.Parameter(torch.randn(hidden))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) * self.scale


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(BATCH, FEATURES)]


def get_init_inputs() -> list[int]:
    return [FEATURES, HIDDEN]
