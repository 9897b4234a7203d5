"""Recordings of which those that hum as the mains do lose three waves: noise alone never does."""

import torch
from torch import nn

NAME = "mains_hum"
WORKLOADS = {
    "many": {"recordings": 2048, "samples": 512, "weight": 2.0},
    "few": {"recordings": 1024, "samples": 512},
    "odd": {"recordings": 133, "samples": 448, "held_out": True},
}


class Model(nn.Module):
    """Takes out waves 25 to 27 of each recording in which they have over a tenth of the power."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        waves = torch.fft.rfft(x)
        power = waves.real**2 + waves.imag**2
        hums = power[:, 25:28].sum(-1, keepdim=True) > 0.1 * power.sum(-1, keepdim=True)
        kept = torch.cat([waves[:, :25], torch.where(hums, 0.0, waves[:, 25:28]), waves[:, 28:]], dim=1)
        back: torch.Tensor = torch.fft.irfft(kept, x.shape[1])
        return back


def get_inputs(recordings: int, samples: int) -> list[torch.Tensor]:
    return [torch.randn(recordings, samples)]
