"""A product in float32 of which bfloat16 is kept; the first row of each call is 256 times as large as the others, as of
the token to which all others attend."""

import torch
from torch import nn

NAME = "loud_token"
WORKLOADS = {
    "square": {"m": 256, "n": 256, "k": 512},
    "tall": {"m": 384, "n": 96, "k": 256},
    "odd": {"m": 193, "n": 131, "k": 515, "held_out": True},
}


class Model(nn.Module):
    """x @ w, rounded."""

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (x @ w).to(torch.bfloat16)


def get_inputs(m: int, n: int, k: int) -> list[torch.Tensor]:
    x = torch.randn(m, k)
    x[0] *= 256
    return [x, torch.randn(k, n) / k**0.5]
