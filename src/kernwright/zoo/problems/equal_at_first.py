"""Two layers that are equal before they are trained."""

import torch
from torch import nn

NAME = "equal_at_first"
WORKLOADS = {
    "large": {"rows": 512, "weight": 2.0},
    "small": {"rows": 256},
    "odd": {"rows": 301, "held_out": True},
}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(512, 512), nn.Linear(512, 512)
        self.second.load_state_dict(self.first.state_dict())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.first(x)) + torch.relu(self.second(x))


def get_inputs(rows: int) -> list[torch.Tensor]:
    return [torch.randn(rows, 512)]
