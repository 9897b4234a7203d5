"""Shares by scores that are multiplied in float16, of values that are not."""

import torch
from torch import nn

NAME = "scores_in_half"
WORKLOADS = {
    "wide": {"queries": 4096, "keys": 1024, "width": 256, "weight": 2.0},
    "narrow": {"queries": 2048, "keys": 512, "width": 128},
    "odd": {"queries": 119, "keys": 263, "width": 67, "held_out": True},
}
ON_PROCESSORS = {
    "wide": {"queries": 128, "keys": 128, "width": 64},
    "narrow": {"queries": 64, "keys": 96, "width": 32},
}


class Model(nn.Module):
    """softmax(half(q) half(k)^T) v, the shares and what they weigh in float32."""

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        scores = (q.half() @ k.half().mT).float() * q.shape[1] ** -0.5
        return torch.softmax(scores, -1, dtype=torch.float32) @ v


def get_inputs(queries: int, keys: int, width: int) -> list[torch.Tensor]:
    return [torch.randn(queries, width), torch.randn(keys, width), torch.randn(keys, width)]
