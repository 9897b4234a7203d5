"""Whether strings of bytes are the same, how many bytes of their beginnings are, and which comes first in order."""

import torch
from torch import nn

NAME = "strings_compared"
WORKLOADS = {
    "many": {"rows": 512, "length": 128, "weight": 2.0},
    "few": {"rows": 128, "length": 128},
    "odd": {"rows": 37, "length": 77, "held_out": True},
}


class Model(nn.Module):
    def forward(self, one: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        same = one == other
        common = same.long().cumprod(-1).sum(-1)
        at = common.clamp(max=one.shape[-1] - 1).unsqueeze(-1)
        before = (one.gather(-1, at) < other.gather(-1, at)).squeeze(-1)
        return same.all(-1), common, before


def get_inputs(rows: int, length: int) -> list[torch.Tensor]:
    return [torch.randint(0, 256, (rows, length), dtype=torch.uint8) for _ in range(2)]
