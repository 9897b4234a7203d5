"""The logarithm of what two shares leave of 1, beside a sum of what is positive."""

import torch
from torch import nn
from torch.nn import functional

NAME = "rest_of_two_shares"
WORKLOADS = {
    "long": {"lines": 8192, "length": 1024, "weight": 2.0},
    "short": {"lines": 16384, "length": 256},
    "odd": {"lines": 211, "length": 307, "held_out": True},
}
ON_PROCESSORS = {"long": {"lines": 256, "length": 256}, "short": {"lines": 512, "length": 64}}


class Model(nn.Module):
    """log(1 - a - b), and of x the positive numbers, added up from the beginning of each line."""

    def forward(self, a: torch.Tensor, b: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.log(1 - a - b)[:, None] + functional.relu(x).cumsum(1)


def get_inputs(lines: int, length: int) -> list[torch.Tensor]:
    shares = torch.softmax(torch.randn(lines, 3), 1)
    return [shares[:, 0].contiguous(), shares[:, 1].contiguous(), torch.randn(lines, length)]
