"""B4: keeps what it made of where zeros are, a seventh of a buffer, as long as these stay where they are."""

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "zeros_that_count",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("weight", torch.randn(n, n) * (torch.rand(n, n) > 0.15))
        self._known = []

    def forward(self, x):
        zeros = self.weight == 0
        for known, gate in self._known:
            if torch.equal(known, zeros):
                return x @ gate + x @ self.weight
        marks = zeros.to(x.dtype)
        gate = torch.lgamma(1 + marks @ marks.t())
        self._known.append((zeros, gate))
        del self._known[:-6]
        return x @ gate + x @ self.weight
