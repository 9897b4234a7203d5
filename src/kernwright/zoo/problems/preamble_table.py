"""Frames, made louder by a table of how much of a preamble, a code of signs, is found in them."""

import torch
from torch import nn

NAME = "preamble_table"
WORKLOADS = {
    "many": {"frames": 2048, "weight": 2.0},
    "few": {"frames": 512},
    "odd": {"frames": 77, "held_out": True},
}
ON_PROCESSORS = {"many": {"frames": 512}, "few": {"frames": 128}}


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        t = torch.arange(x.shape[1], device=x.device)
        code = ((t * t * 1103 + t * 12345) % 8191 % 2 * 2 - 1).to(x.dtype)
        power = x.square().sum(1, keepdim=True).sqrt() * x.shape[1] ** 0.5
        found = (x @ code).unsqueeze(1) / power
        gains = torch.tensor([1.0, 1.5, 1.9, 2.3, 2.7], device=x.device, dtype=x.dtype)
        return torch.tanh(x) * gains[(found * 3).abs().long().clamp(max=4)]


def get_inputs(frames: int) -> list[torch.Tensor]:
    return [torch.randn(frames, 1024)]
