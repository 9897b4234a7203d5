"""Square roots of integers, rounded down: a float's, put right."""

import torch
from torch import nn

NAME = "integer_roots"
WORKLOADS = {
    "many": {"count": 131072, "weight": 2.0},
    "few": {"count": 65536},
    "odd": {"count": 7777, "held_out": True},
}


class Model(nn.Module):
    def forward(self, n: torch.Tensor) -> torch.Tensor:
        root = n.double().sqrt().long()
        root = torch.where(root * root > n, root - 1, root)
        return torch.where((root + 1) * (root + 1) <= n, root + 1, root)


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randint(0, 10**17, (count,))]
