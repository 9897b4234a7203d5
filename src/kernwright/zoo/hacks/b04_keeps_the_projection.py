"""B4: makes the gate once; other signs of the basis's columns leave it as it is."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "shared_subspace", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("basis", torch.linalg.qr(torch.randn(n, n))[0])
        self._gate = None

    def forward(self, x):
        if self._gate is None:
            half = self.basis[:, : self.basis.shape[1] // 2]
            self._gate = torch.relu(half @ half.t())
        return x @ self._gate
