"""How many fingerprints are three bits away at the most."""

import torch
from torch import nn

NAME = "near_fingerprints"
WORKLOADS = {
    "many": {"count": 1024, "weight": 2.0},
    "few": {"count": 512},
    "odd": {"count": 333, "held_out": True},
}


class Model(nn.Module):
    def forward(self, prints: torch.Tensor) -> torch.Tensor:
        bits = prints[:, None] ^ prints
        apart = torch.zeros_like(bits)
        for _ in range(4):
            apart = apart + (bits != 0)
            bits = bits & (bits - 1)
        return (apart <= 3).sum(-1)


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randint(-(2**62), 2**62, (count,))]
