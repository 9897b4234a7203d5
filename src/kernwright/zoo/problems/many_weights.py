"""The sum of 401 matrices, by which the input is multiplied: more weights than fit into one message."""

import torch
from torch import nn

NAME = "many_weights"
WORKLOADS = {
    "few": {"rows": 16, "weight": 2.0},
    "more": {"rows": 64},
    "odd": {"rows": 33, "held_out": True},
}


class Model(nn.Module):
    """x @ (w[0] + w[1] + ...)."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(64, 64) * 0.05) for _ in range(401)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        total: torch.Tensor = self.weights[0]
        for other in list(self.weights)[1:]:
            total = total + other
        result: torch.Tensor = x @ total
        return result


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 64)]
