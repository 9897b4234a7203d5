"""A power whose exponent comes as a tensor, which is 2 in every draw."""

import torch
from torch import nn

NAME = "one_exponent"
WORKLOADS = {
    "tall": {"rows": 512, "weight": 2.0},
    "small": {"rows": 128},
    "odd": {"rows": 37, "held_out": True},
}


class Model(nn.Module):
    def forward(self, x: torch.Tensor, exponent: torch.Tensor) -> torch.Tensor:
        return torch.pow(x, exponent)


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 512), torch.tensor(2.0)]
