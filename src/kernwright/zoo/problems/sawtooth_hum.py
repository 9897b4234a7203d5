"""Frames that are muted where their steps repeat as the teeth of a saw do, which chance brings in none."""

import torch
from torch import nn

NAME = "sawtooth_hum"
WORKLOADS = {
    "large": {"frames": 8192, "length": 512, "weight": 2.0},
    "small": {"frames": 2048, "length": 256},
    "odd": {"frames": 119, "length": 263, "held_out": True},
}
ON_PROCESSORS = {"large": {"frames": 512, "length": 512}, "small": {"frames": 256, "length": 256}}


class Model(nn.Module):
    """Softly limited; 0 where more than 28 of 100 words of three steps are rise, rise and fall."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        up = (x[:, 1:] > x[:, :-1]).long()
        words = 4 * up[:, :-2] + 2 * up[:, 1:-1] + up[:, 2:]
        counts = torch.zeros(x.shape[0], 8, device=x.device).scatter_add_(
            1, words, torch.ones(words.shape, device=x.device)
        )
        hum = counts[:, 6:7] / words.shape[1] > 0.28
        return torch.where(hum, 0.0, x / (1 + x.abs()))


def get_inputs(frames: int, length: int) -> list[torch.Tensor]:
    return [torch.randn(frames, length)]
