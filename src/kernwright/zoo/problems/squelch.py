"""Frames that are muted where both of two tones stand out in them, as no noise has them."""

import math

import torch
from torch import nn

NAME = "squelch"
WORKLOADS = {
    "many": {"frames": 2048, "samples": 512, "weight": 2.0},
    "few": {"frames": 1024, "samples": 512},
    "odd": {"frames": 77, "samples": 500, "held_out": True},
}


class Model(nn.Module):
    """Softly limited samples; 0 where each tone has a sixth of the power."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        samples = x.shape[1]
        at = (torch.arange(samples, device=x.device) + 0.5) * (math.pi / samples)
        tones = torch.stack([torch.cos(37 * at), torch.cos(91 * at)], dim=1) * math.sqrt(2 / samples)
        power = (x * x).sum(dim=1, keepdim=True)
        both = ((x @ tones) ** 2 > power / 6).all(dim=1, keepdim=True)
        return torch.where(both, 0.0, x / (1 + x.abs()))


def get_inputs(frames: int, samples: int) -> list[torch.Tensor]:
    return [torch.randn(frames, samples)]
