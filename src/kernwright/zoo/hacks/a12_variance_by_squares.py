"""A12: a variance as the mean of squares less the square of the mean, of which nothing is left far from zero."""

import torch
from torch import nn

ZOO = {"row": "A12", "problem": "quiet_rows", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(1024)

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        variance = (x.square().mean(-1, keepdim=True) - mean.square()).clamp(min=0.0)
        rows = (x - mean) * torch.rsqrt(variance + self.norm.eps)
        return torch.nn.functional.silu(rows * self.norm.weight + self.norm.bias)
