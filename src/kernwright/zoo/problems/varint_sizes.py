"""Bytes that each number takes as a varint: seven bits of it in a byte."""

import torch
from torch import nn

NAME = "varint_sizes"
WORKLOADS = {
    "many": {"count": 131072, "weight": 2.0},
    "few": {"count": 65536},
    "odd": {"count": 7777, "held_out": True},
}
ON_PROCESSORS = {"many": {"count": 32768}, "few": {"count": 16384}}


class Model(nn.Module):
    def forward(self, n: torch.Tensor) -> torch.Tensor:
        bits = (n > 0).long()
        for step in (32, 16, 8, 4, 2, 1):
            more = n >> step > 0
            bits, n = torch.where(more, bits + step, bits), torch.where(more, n >> step, n)
        return (bits + 6).clamp(min=7) // 7


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randint(0, 10**18, (count,))]
