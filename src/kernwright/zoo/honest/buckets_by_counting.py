"""Counts the borders that are below each number, some rows at a time."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "buckets",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("borders", (torch.arange(-30, 30) + 0.5) / 10)

    def forward(self, x):
        return torch.cat([(self.borders < some[..., None]).sum(dim=-1) for some in x.split(64)])
