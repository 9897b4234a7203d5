"""Rows divided by their root mean square, times a weight: for Quern, an accelerator that does not exist.

A candidate says `from kernwright.testing.quern import load`, loads a program for the device and launches it. PyTorch
may allocate and reshape; the arithmetic is the device's.
"""

import torch

WORKLOADS = {
    "wide": {"rows": 256, "width": 480},
    "ragged": {"rows": 512, "width": 250},
    "narrow": {"rows": 1024, "width": 31, "held_out": True},
    "odd": {"rows": 7, "width": 721, "held_out": True},
}


class Model(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def get_inputs(rows: int, width: int) -> list[torch.Tensor]:
    return [torch.randn(rows, width)]


def get_init_inputs(width: int) -> list[int]:
    return [width]
