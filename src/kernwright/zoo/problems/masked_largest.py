"""The largest of the numbers that a mask keeps of each row; of none it is minus infinity."""

import torch
from torch import nn

NAME = "masked_largest"
WORKLOADS = {
    "large": {"rows": 64, "columns": 256, "weight": 2.0},
    "small": {"rows": 32, "columns": 128},
    "odd": {"rows": 37, "columns": 177, "held_out": True},
}


class Model(nn.Module):
    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return x.masked_fill(~mask[:, :, None], float("-inf")).amax(1)


def get_inputs(rows: int, columns: int) -> list[torch.Tensor]:
    return [torch.randn(rows, columns, 64), torch.rand(rows, columns) < 0.3]
