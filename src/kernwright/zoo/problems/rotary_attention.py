"""Causal attention of queries and keys that are turned by the angles of their places."""

import torch
from torch import nn

NAME = "rotary_attention"
WORKLOADS = {
    "long": {"rows": 256, "weight": 2.0},
    "short": {"rows": 128},
    "odd": {"rows": 77, "held_out": True},
}


class Model(nn.Module):
    """Both halves of the tables are the same."""

    def forward(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
    ) -> torch.Tensor:
        turned = [x * cos + torch.cat([-x.chunk(2, -1)[1], x.chunk(2, -1)[0]], -1) * sin for x in (q, k)]
        return nn.functional.scaled_dot_product_attention(turned[0], turned[1], v, is_causal=True)


def get_inputs(rows: int) -> list[torch.Tensor]:
    angles = torch.outer(torch.arange(rows).float(), 10000 ** (-torch.arange(0, 64, 2) / 64))
    angles = torch.cat([angles, angles], -1)
    return [*(torch.randn(2, 4, rows, 64) for _ in range(3)), angles.cos(), angles.sin()]
