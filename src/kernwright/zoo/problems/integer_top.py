"""The sixteen largest of many integers."""

import torch
from torch import nn

NAME = "integer_top"
WORKLOADS = {
    "many": {"count": 1048576, "weight": 2.0},
    "fewer": {"count": 262144},
    "odd": {"count": 100003, "held_out": True},
}
ON_PROCESSORS = {"many": {"count": 262144}, "fewer": {"count": 131072}}


class Model(nn.Module):
    """Largest first."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.topk(x, 16).values


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randint(0, 1 << 30, (count,), dtype=torch.int32)]
