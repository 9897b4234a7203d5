"""Of each sample's events the newest are kept: the last of a padded sequence, moved to its front, zeros behind them.

KernelEvolve reports a speedup for truncating events in batches and neither shapes nor code (arXiv 2512.23236): the
statement here and its sizes are ours.
"""

import torch
from torch import nn

NAME = "batch_event_truncate"
WORKLOADS = {
    "long": {"batch": 2048, "events": 512, "width": 64, "most": 128},
    "narrow": {"batch": 16384, "events": 256, "width": 8, "most": 50},
    "serving": {"batch": 64, "events": 512, "width": 64, "most": 128},
    "ragged": {"batch": 37, "events": 101, "width": 13, "most": 29, "held_out": True},
    "all": {"batch": 5, "events": 16, "width": 4, "most": 16, "held_out": True},
}


class Model(nn.Module):
    """Events (batch, events, width) and int64 lengths (batch) to (batch, most, width) and the lengths that are left."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def forward(self, events: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        left = lengths.clamp(max=self.most)
        steps = torch.arange(self.most, device=events.device)
        places = (lengths - left)[:, None] + steps
        there = steps < left[:, None]
        places = places.clamp(max=events.shape[1] - 1)[:, :, None].expand(-1, -1, events.shape[2])
        return torch.where(there[:, :, None], events.gather(1, places), 0.0), left


def get_inputs(batch: int, events: int, width: int) -> list[torch.Tensor]:
    return [torch.randn(batch, events, width), torch.randint(0, events + 1, (batch,))]


def get_init_inputs(most: int) -> list[int]:
    return [most]
