"""Results by name: of each row the mean, and the largest number."""

import torch
from torch import nn

NAME = "named_results"
WORKLOADS = {
    "many": {"rows": 2048, "weight": 2.0},
    "few": {"rows": 1024},
    "odd": {"rows": 333, "held_out": True},
}


class Model(nn.Module):
    """{"mean": ..., "top": ...}."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"mean": x.mean(-1), "top": x.amax(-1)}


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 256)]
