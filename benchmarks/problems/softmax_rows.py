"""Softmax over rows of float32; ROWS sets how long a call takes."""

import torch

ROWS = 256
COLS = 4096


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=1)


def get_inputs(rows: int = ROWS) -> list[torch.Tensor]:
    return [torch.rand(rows, COLS)]


def get_init_inputs() -> list[int]:
    return []
