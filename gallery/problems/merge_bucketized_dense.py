"""Dense features become ids: each is put into buckets with borders of its own, and all share one range of numbers.

KernelEvolve reports a speedup for its "merge bucketised dense" transform and neither shapes nor code (arXiv
2512.23236): the statement here and its sizes are ours.
"""

import torch
from torch import nn

NAME = "merge_bucketized_dense"
WORKLOADS = {
    "training": {"batch": 16384, "features": 128, "borders": 100},
    "serving": {"batch": 512, "features": 128, "borders": 100},
    "fine": {"batch": 16384, "features": 32, "borders": 2000},
    "ragged": {"batch": 1003, "features": 17, "borders": 33, "held_out": True},
    "one": {"batch": 1, "features": 5, "borders": 9, "held_out": True},
}


class Model(nn.Module):
    """float32 of (batch, features) to int64 ids of the same shape; feature f has those from f * (borders + 1) on."""

    def __init__(self, features: int, borders: int) -> None:
        super().__init__()
        self.register_buffer("borders", torch.randn(features, borders).sort(dim=1).values)
        self.register_buffer("first", torch.arange(features)[:, None] * (borders + 1))

    def forward(self, dense: torch.Tensor) -> torch.Tensor:
        buckets = torch.searchsorted(self.borders, dense.t().contiguous(), right=True)
        return (buckets + self.first).t().contiguous()


def get_inputs(batch: int, features: int) -> list[torch.Tensor]:
    return [torch.randn(batch, features)]


def get_init_inputs(features: int, borders: int) -> list[int]:
    return [features, borders]
