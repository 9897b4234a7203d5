"""Mean of embedding rows per bag, bags of different sizes: gathers from a table that no cache holds whole."""

import torch
from torch import nn

NAME = "embedding_bag_gpu"
WORKLOADS = {
    "ads": {"bags": 256, "longest": 40, "vocabulary": 100000, "width": 64, "weight": 2.0},
    "wide": {"bags": 100, "longest": 24, "vocabulary": 50000, "width": 256},
    "odd": {"bags": 7, "longest": 5, "vocabulary": 50, "width": 10, "held_out": True},
}


class Model(nn.Module):
    """Mean of table[indices[b, :lengths[b]]]; any lengths from 1 to the width of `indices` make sense."""

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(vocabulary, width))

    def forward(self, indices: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        taken = torch.arange(indices.shape[1], device=indices.device) < lengths.unsqueeze(1)
        rows = self.table[indices] * taken.unsqueeze(2)
        return rows.sum(dim=1) / lengths.unsqueeze(1)


def get_inputs(bags: int, longest: int, vocabulary: int) -> list[torch.Tensor]:
    return [torch.randint(0, vocabulary, (bags, longest)), torch.randint(1, longest + 1, (bags,))]


def get_init_inputs(vocabulary: int, width: int) -> list[int]:
    return [vocabulary, width]
