"""Cross-entropy per row against integer targets: the loss of a language model, before the mean over tokens.

Only one number a row leaves; the log-probabilities that PyTorch writes out are read back once and thrown away.
"""

import torch
from torch import nn

NAME = "cross_entropy"
WORKLOADS = {
    "vocabulary": {"rows": 128, "cols": 32000, "weight": 2.0},
    "large": {"rows": 32, "cols": 128256},
    "classes": {"rows": 4096, "cols": 1000},
    "few": {"rows": 5, "cols": 37, "held_out": True},
}


class Model(nn.Module):
    """Negative log-likelihood of `target` under softmax(logits), one value a row."""

    def forward(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(logits, target, reduction="none")


def get_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [torch.randn(rows, cols) * 3.0, torch.randint(0, cols, (rows,))]
