"""Where a stop sequence begins in each text, -1 where it is not."""

import torch
from torch import nn

NAME = "stop_sequence"
WORKLOADS = {
    "many": {"rows": 64, "length": 1024, "some": 16, "weight": 2.0},
    "few": {"rows": 16, "length": 1024, "some": 16},
    "odd": {"rows": 7, "length": 777, "some": 13, "held_out": True},
}


class Model(nn.Module):
    def forward(self, text: torch.Tensor, stop: torch.Tensor) -> torch.Tensor:
        hit = (text.unfold(1, stop.shape[-1], 1) == stop[:, None]).all(-1)
        places = torch.arange(hit.shape[-1], device=text.device)
        first = torch.where(hit, places, text.shape[-1]).amin(-1)
        return torch.where(first < text.shape[-1], first, -1)


def get_inputs(rows: int, length: int, some: int) -> list[torch.Tensor]:
    return [torch.randint(0, 50000, (rows, length)), torch.randint(0, 50000, (rows, some))]
