"""Cross-entropy per row against integer targets, with the vocabulary of a language model."""

import torch
from torch import nn

NAME = "cross_entropy_gpu"
WORKLOADS = {
    "vocabulary": {"rows": 128, "cols": 32000, "weight": 2.0},
    "classes": {"rows": 512, "cols": 1000},
    "few": {"rows": 5, "cols": 37, "held_out": True},
}


class Model(nn.Module):
    """Negative log-likelihood of `target`, one value a row."""

    def forward(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(logits, target, reduction="none")


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) * 3.0, torch.randint(0, cols, (rows,))]
