"""Counts of values in 256 classes: many additions to few addresses."""

import torch
from torch import nn

NAME = "histogram256"
WORKLOADS = {
    "many": {"count": 4000000, "weight": 2.0},
    "odd": {"count": 1000003},
    "few": {"count": 77, "held_out": True},
}


class Model(nn.Module):
    """How often each of 0 to 255 occurs."""

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return torch.zeros(256, dtype=torch.int32, device=values.device).index_add(
            0, values, torch.ones_like(values, dtype=torch.int32)
        )


def get_inputs(count: int) -> list[torch.Tensor]:
    # Half of all values fall into a few classes, which is where additions collide.
    common = torch.randint(0, 4, (count,))
    return [torch.where(torch.rand(count) < 0.5, common, torch.randint(0, 256, (count,))).to(torch.int32)]
