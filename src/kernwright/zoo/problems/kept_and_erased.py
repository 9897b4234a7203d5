"""The last state of a memory that keeps by one gate and erases by another."""

import torch
from torch import nn
from torch.nn import functional

NAME = "kept_and_erased"
WORKLOADS = {
    "many": {"cells": 512, "steps": 2048, "weight": 2.0},
    "few": {"cells": 256, "steps": 2048},
    "odd": {"cells": 13, "steps": 1511, "held_out": True},
}
ON_PROCESSORS = {"many": {"cells": 32, "steps": 2048}, "few": {"cells": 16, "steps": 2048}}


class Model(nn.Module):
    """s = sigmoid(keep) (1 - sigmoid(erase)) s + x, from 0 on, in logarithms."""

    def forward(self, x: torch.Tensor, keep: torch.Tensor, erase: torch.Tensor) -> torch.Tensor:
        log = functional.logsigmoid(keep) + functional.logsigmoid(-erase)
        after = log.flip(1).cumsum(1).flip(1) - log
        return (x * after.exp()).sum(1)


def get_inputs(cells: int, steps: int) -> list[torch.Tensor]:
    return [torch.randn(cells, steps) for _ in range(3)]
