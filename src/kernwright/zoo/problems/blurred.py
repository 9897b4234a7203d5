"""Images blurred by a parameter that is never trained, the same whatever the seed."""

import torch
from torch import nn

NAME = "blurred"
WORKLOADS = {
    "large": {"side": 128, "weight": 2.0},
    "small": {"side": 64},
    "odd": {"side": 77, "held_out": True},
}


class Model(nn.Module):
    """The outer product of a bell of 15 numbers with itself."""

    def __init__(self) -> None:
        super().__init__()
        bell = torch.softmax(-(torch.arange(-7, 8) ** 2) / 8, dim=0)
        self.kernel = nn.Parameter(torch.outer(bell, bell)[None, None], requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wider = nn.functional.pad(x, (7, 7, 7, 7), mode="reflect").flatten(0, 1)[:, None]
        return nn.functional.conv2d(wider, self.kernel).view_as(x)


def get_inputs(side: int) -> list[torch.Tensor]:
    return [torch.rand(1, 3, side, side)]
