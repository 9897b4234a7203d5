"""Causal attention in float16: the matrix of scores is larger than everything else, and nobody needs it."""

import torch
from torch import nn

NAME = "causal_attention_half"
WORKLOADS = {
    "prompt": {"heads": 8, "length": 256, "width": 64, "weight": 2.0},
    "ragged": {"heads": 3, "length": 333, "width": 64},
    "few": {"heads": 2, "length": 19, "width": 64, "held_out": True},
}


class Model(nn.Module):
    """softmax(q @ k.T / sqrt(width), causal) @ v for each head."""

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        length = q.shape[1]
        later = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
        scores = (q @ k.transpose(1, 2)) / q.shape[2] ** 0.5
        return torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1) @ v


def get_inputs(heads: int, length: int, width: int) -> list[torch.Tensor]:
    return [torch.randn(heads, length, width).half() for _ in range(3)]
