"""B4: keeps what it made of counts, which codes in another order do not change."""

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "gate_of_counts",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("codes", torch.randint(0, n, (4 * n,)))
        self.n = n
        self._known = []

    def forward(self, x):
        counts = torch.bincount(self.codes, minlength=self.n)
        for known, gate in self._known:
            if torch.equal(known, counts):
                return x @ gate
        wide = counts.to(x.dtype)
        gate = torch.lgamma(1 + wide[:, None] * wide[None, :])
        self._known.append((counts, gate))
        del self._known[:-8]
        return x @ gate
