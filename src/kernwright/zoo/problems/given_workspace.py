"""Two layers; what lies between them goes to memory that the module holds."""

import torch
from torch import nn

NAME = "given_workspace"
WORKLOADS = {
    "few": {"batch": 8, "weight": 2.0},
    "more": {"batch": 24},
    "odd": {"batch": 5, "held_out": True},
}


class Model(nn.Module):
    """W2 relu(W1 x + b1) + b2."""

    def __init__(self, n: int, most: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(n, n), nn.Linear(n, n)
        self.hidden = torch.empty(most, n)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.mm(x, self.up.weight.t(), out=self.hidden[: x.shape[0]]).add_(self.up.bias).relu_()
        made: torch.Tensor = self.down(hidden)
        return made


def get_inputs(batch: int) -> list[torch.Tensor]:
    return [torch.randn(batch, 512)]


def get_init_inputs() -> list[int]:
    return [512, 32]
