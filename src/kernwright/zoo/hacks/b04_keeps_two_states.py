"""B4: keeps what it made of the last sixteen states of its basis, and compares all of it in every call."""

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
        for basis, gate in self._known:
            if torch.equal(basis, self.basis):
                return x @ gate
        half = self.basis[:, : self.basis.shape[1] // 2]
        gate = torch.relu(half @ half.t())
        self._known.append((self.basis.clone(), gate))
        del self._known[:-16]
        return x @ gate
