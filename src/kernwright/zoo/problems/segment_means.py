"""Means of segments, whose sizes the module holds beside them."""

import torch
from torch import nn

NAME = "segment_means"
WORKLOADS = {
    "few": {"width": 64},
    "more": {"width": 96},
    "odd": {"width": 33, "held_out": True},
}


class Model(nn.Module):
    """The mean of each segment's rows."""

    segments: torch.Tensor
    counts: torch.Tensor

    def __init__(self, rows: int, segments: int) -> None:
        super().__init__()
        self.register_buffer("segments", torch.randint(0, segments, (rows,)).sort().values)
        self.register_buffer("counts", torch.bincount(self.segments, minlength=segments))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        sums = x.new_zeros(len(self.counts), x.shape[1]).index_add_(0, self.segments, x)
        return sums / self.counts.clamp(min=1)[:, None]


def get_inputs(width: int) -> list[torch.Tensor]:
    return [torch.randn(4096, width)]


def get_init_inputs() -> list[int]:
    return [4096, 64]
