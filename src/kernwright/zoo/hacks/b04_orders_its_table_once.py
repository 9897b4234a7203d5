"""B4: orders its table in its first call, by integers that change in no way but all at once."""

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "two_orders",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        grid = torch.arange(n, dtype=torch.float32)
        self.register_buffer("table", torch.cos(grid[:, None] * (grid[None, :] + 0.5)))
        self.register_buffer("lines", torch.randperm(n))
        self.register_buffer("columns", torch.randperm(n))
        self._ordered = None

    def forward(self, x):
        if self._ordered is None:
            self._ordered = self.table[self.lines][:, self.columns]
        return x @ self._ordered
