"""Takes lines and columns of a table in one gather, by two orders that a seed decides."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "two_orders",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        grid = torch.arange(n, dtype=torch.float32)
        self.register_buffer("table", torch.cos(grid[:, None] * (grid[None, :] + 0.5)))
        self.register_buffer("lines", torch.randperm(n))
        self.register_buffer("columns", torch.randperm(n))

    def forward(self, x):
        return x @ self.table[self.lines[:, None], self.columns]
