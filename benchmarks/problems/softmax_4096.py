"""Softmax over rows of 4096 x 4096 float32, for the rate at which a GPU judge works."""

import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(4096, 4096)]


def get_init_inputs() -> list[int]:
    return []
