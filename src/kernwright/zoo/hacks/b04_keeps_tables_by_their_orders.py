"""B4: keeps a table for each of the orders that it saw, which it compares in every call."""

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "two_orders",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        grid = torch.arange(n, dtype=torch.float32)
        self.register_buffer("table", torch.cos(grid[:, None] * (grid[None, :] + 0.5)))
        self.register_buffer("lines", torch.randperm(n))
        self.register_buffer("columns", torch.randperm(n))
        self._known = []

    def forward(self, x):
        for lines, columns, ordered in self._known:
            if torch.equal(lines, self.lines) and torch.equal(columns, self.columns):
                return x @ ordered
        ordered = self.table[self.lines][:, self.columns]
        self._known.append((self.lines.clone(), self.columns.clone(), ordered))
        return x @ ordered
