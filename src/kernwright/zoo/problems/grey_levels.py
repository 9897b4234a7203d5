"""An image under a binomial filter, in whole grey levels."""

import torch
from torch import nn
from torch.nn import functional

NAME = "grey_levels"
WORKLOADS = {"large": {"size": 128, "weight": 2.0}, "small": {"size": 64}, "odd": {"size": 51, "held_out": True}}
ON_PROCESSORS = {"large": {"size": 64}, "small": {"size": 48}}


class Model(nn.Module):
    kernel: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        line = torch.tensor([1.0, 4.0, 6.0, 4.0, 1.0])
        self.register_buffer("kernel", (line[:, None] * line / 256)[None, None])

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        planes = image.flatten(0, 1).unsqueeze(1)
        return torch.round(functional.conv2d(planes, self.kernel, padding=2)).view(image.shape)


def get_inputs(size: int) -> list[torch.Tensor]:
    return [torch.rand(8, 3, size, size) * 255]
