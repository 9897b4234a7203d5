"""A half-precision linear layer with bias and GELU: the product's tile is still in registers when they apply."""

import torch
from torch import nn

NAME = "linear_gelu_half"
WORKLOADS = {
    "square": {"rows": 512, "features": 512, "hidden": 512, "weight": 2.0},
    "ragged": {"rows": 200, "features": 328, "hidden": 136},
    "few": {"rows": 5, "features": 21, "hidden": 40, "held_out": True},
}


class Model(nn.Module):
    """gelu(x @ weight.T + bias) in float16, GELU in its tanh form."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter((torch.randn(hidden, features) / features**0.5).half())
        self.bias = nn.Parameter(torch.randn(hidden).half())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(torch.nn.functional.linear(x, self.weight, self.bias), approximate="tanh")


def get_inputs(rows: int, features: int) -> list[torch.Tensor]:
    return [torch.randn(rows, features).half()]


def get_init_inputs(features: int, hidden: int) -> list[int]:
    return [features, hidden]
