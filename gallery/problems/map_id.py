"""MapId: sparse ids looked up in a sorted table of known ones, as preprocessing for recommendation models does it.

An id that the table has becomes the number beside it, any other id the default. KernelEvolve reports a speedup for the
operator and neither shapes nor code (arXiv 2512.23236): the statement here and its sizes are ours.
"""

import torch
from torch import nn

NAME = "map_id"
WORKLOADS = {
    "large": {"ids": 4194304, "known": 100000, "span": 200000},
    "small_table": {"ids": 4194304, "known": 1000, "span": 2000},
    "few": {"ids": 65536, "known": 100000, "span": 200000},
    "ragged": {"ids": 100003, "known": 777, "span": 5003, "held_out": True},
    "few_known": {"ids": 7, "known": 5, "span": 11, "held_out": True},
}


class Model(nn.Module):
    """int64 ids of any number to as many int64 numbers."""

    def __init__(self, known: int, span: int, default: int = -1) -> None:
        super().__init__()
        self.default = default
        self.register_buffer("keys", torch.randperm(span)[:known].sort().values)
        self.register_buffer("numbers", torch.randperm(known))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        places = torch.searchsorted(self.keys, ids).clamp_(max=self.keys.numel() - 1)
        return torch.where(self.keys[places] == ids, self.numbers[places], self.default)


def get_inputs(ids: int, span: int) -> list[torch.Tensor]:
    return [torch.randint(0, span, (ids,))]


def get_init_inputs(known: int, span: int) -> list[int]:
    return [known, span]
