"""Sums of long numbers, in limbs of 16 bits, the least first."""

import torch
from torch import nn

NAME = "long_sums"
WORKLOADS = {
    "many": {"rows": 512, "limbs": 32, "weight": 2.0},
    "few": {"rows": 128, "limbs": 32},
    "odd": {"rows": 37, "limbs": 21, "held_out": True},
}


class Model(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        limbs, carry = [], torch.zeros_like(x[:, 0])
        for place in range(x.shape[1]):
            total = x[:, place] + y[:, place] + carry
            limbs.append(total & 65535)
            carry = total >> 16
        return torch.stack(limbs, 1)


def get_inputs(rows: int, limbs: int) -> list[torch.Tensor]:
    return [torch.randint(0, 65536, (rows, limbs)), torch.randint(0, 65536, (rows, limbs))]
