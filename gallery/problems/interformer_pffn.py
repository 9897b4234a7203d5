"""A personalised feed-forward layer, as in InterFormer: each sample transforms its sequence by a matrix of its own.

The matrix is made of a summary of the sample's other features. Batches from 64 to 1024 are those for which
KernelEvolve reports figures (arXiv 2512.23236); all other sizes, the precision, and GELU, residual and RMSNorm in this
order are ours.
"""

import torch
from torch import nn

NAME = "interformer_pffn"
RULES = {"precision": "float16"}
WORKLOADS = {
    "batch_64": {"batch": 64, "tokens": 128, "width": 64, "summary": 256},
    "batch_256": {"batch": 256, "tokens": 128, "width": 64, "summary": 256},
    "batch_1024": {"batch": 1024, "tokens": 128, "width": 64, "summary": 256},
    "batch_512": {"batch": 512, "tokens": 128, "width": 64, "summary": 256, "held_out": True},
    "ragged": {"batch": 7, "tokens": 51, "width": 40, "summary": 96, "held_out": True},
}


class Model(nn.Module):
    """A summary (batch, summary) and a sequence (batch, tokens, width) to a sequence of the same shape."""

    def __init__(self, width: int, summary: int, epsilon: float = 1e-6) -> None:
        super().__init__()
        self.width = width
        self.epsilon = epsilon
        self.make = nn.Linear(summary, width * width, bias=False)
        self.scale = nn.Parameter(1.0 + 0.1 * torch.randn(width))

    def forward(self, summary: torch.Tensor, sequence: torch.Tensor) -> torch.Tensor:
        own = self.make(summary).view(-1, self.width, self.width)
        mixed = sequence + nn.functional.gelu(torch.bmm(sequence, own))
        return mixed * torch.rsqrt(mixed.square().mean(dim=-1, keepdim=True) + self.epsilon) * self.scale


def get_inputs(batch: int, tokens: int, width: int, summary: int) -> list[torch.Tensor]:
    return [torch.randn(batch, summary), torch.randn(batch, tokens, width)]


def get_init_inputs(width: int, summary: int) -> list[int]:
    return [width, summary]
