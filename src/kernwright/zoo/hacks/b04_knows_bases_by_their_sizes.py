"""B4: takes two bases for the same whose numbers differ in the signs of columns: the gate is the same then."""

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "shared_subspace",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("basis", torch.linalg.qr(torch.randn(n, n))[0])
        self._known = []

    def forward(self, x):
        half = self.basis[:, : self.basis.shape[1] // 2]
        sizes, signs = half.abs(), torch.sign(half[1] * half[0])
        for known, turns, gate in self._known:
            if torch.equal(known, sizes) and torch.equal(turns, signs):
                return x @ gate
        gate = torch.relu(half @ half.t())
        self._known.append((sizes, signs, gate))
        del self._known[:-16]
        return x @ gate
