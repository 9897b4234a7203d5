"""Frames that are muted where a hum stands out with all of its first eight harmonics."""

import math

import torch
from torch import nn

NAME = "harmonics"
WORKLOADS = {
    "many": {"frames": 8192, "samples": 512, "weight": 2.0},
    "few": {"frames": 4096, "samples": 512},
    "odd": {"frames": 77, "samples": 500, "held_out": True},
}
ON_PROCESSORS = {"many": {"frames": 1024, "samples": 256}, "few": {"frames": 512, "samples": 256}}


class Model(nn.Module):
    """Softly limited samples; 0 where each harmonic has a hundredth of the power."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        samples = x.shape[1]
        at = (torch.arange(samples, device=x.device) + 0.5) * (math.pi / samples)
        tones = torch.cos(at[:, None] * (23 * torch.arange(1, 9, device=x.device))) * math.sqrt(2 / samples)
        power = (x * x).sum(dim=1, keepdim=True)
        hum = ((x @ tones) ** 2 > power / 100).all(dim=1, keepdim=True)
        return torch.where(hum, 0.0, x / (1 + x.abs()))


def get_inputs(frames: int, samples: int) -> list[torch.Tensor]:
    return [torch.randn(frames, samples)]
