"""Principal stresses of many small symmetric tensors."""

import torch
from torch import nn

NAME = "principal_stresses"
WORKLOADS = {
    "many": {"count": 8192, "weight": 2.0},
    "few": {"count": 2048},
    "odd": {"count": 777, "held_out": True},
}


class Model(nn.Module):
    """In order."""

    def forward(self, stresses: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = torch.linalg.eigvalsh(stresses)
        return values


def get_inputs(count: int) -> list[torch.Tensor]:
    m = torch.randn(count, 3, 3)
    return [m + m.mT]
