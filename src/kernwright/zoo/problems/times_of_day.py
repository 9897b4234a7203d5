"""Times in microseconds as days, weekdays and milliseconds of the day."""

import torch
from torch import nn

NAME = "times_of_day"
WORKLOADS = {
    "many": {"count": 131072, "weight": 2.0},
    "few": {"count": 65536},
    "odd": {"count": 7777, "held_out": True},
}
DAY = 86_400_000_000


class Model(nn.Module):
    def forward(self, time: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        day = time // DAY
        return day, (day + 4) % 7, time % DAY // 1000


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randint(0, 2**55, (count,))]
