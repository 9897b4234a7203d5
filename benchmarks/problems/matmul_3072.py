"""A strict float32 matrix product of about a millisecond on a large GPU."""

import torch

SIZE = 3072


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return x @ w


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE)]


def get_init_inputs() -> list[int]:
    return []
