"""A small step of phases that pull at each other."""

import torch
from torch import nn

NAME = "coupled_phases"
WORKLOADS = {"many": {"count": 512, "weight": 2.0}, "few": {"count": 384}, "odd": {"count": 301, "held_out": True}}


class Model(nn.Module):
    """Y. Kuramoto, Lecture Notes in Physics 39, 1975."""

    def forward(self, phases: torch.Tensor, speeds: torch.Tensor) -> torch.Tensor:
        pull = torch.sin(phases[:, None, :] - phases[:, :, None]).mean(-1)
        return phases + 1e-4 * (speeds + 2.0 * pull)


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.rand(4, count) * 6.28, torch.randn(4, count)]
