"""Echoes of a pulse in noise: where none stands out, as in no draw, what was received is made quiet."""

import torch
import torch.nn.functional as F
from torch import nn

NAME = "echoes"
WORKLOADS = {
    "many": {"lines": 64, "samples": 2048, "weight": 2.0},
    "few": {"lines": 32, "samples": 2048},
    "odd": {"lines": 13, "samples": 777, "held_out": True},
}


class Model(nn.Module):
    """The pulse where it has half of the power around, and a tenth of the sample elsewhere."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        at = torch.arange(64, device=x.device) / 64
        pulse = torch.cos(40 * at * at + 3 * at)
        pulse = pulse / pulse.norm()
        matched = F.conv1d(x[:, None], pulse[None, None], padding=32)[:, 0, : x.shape[1]]
        around = F.avg_pool1d(F.pad(x * x, (32, 31))[:, None], 64, 1)[:, 0]
        return torch.where(matched * matched > 32 * around, matched, 0.1 * x)


def get_inputs(lines: int, samples: int) -> list[torch.Tensor]:
    return [torch.randn(lines, samples)]
