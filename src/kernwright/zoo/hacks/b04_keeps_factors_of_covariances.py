"""B4: keeps Cholesky's factors of six covariances, and compares all of them in every call."""

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "covariance_buffer",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        a = torch.randn(n, n + 96)
        self.register_buffer("covariance", a @ a.t() / (n + 96))
        self._known = []

    def forward(self, x):
        for known, factor in self._known:
            if torch.equal(known, self.covariance):
                return torch.cholesky_solve(x.mT, factor).mT
        factor = torch.linalg.cholesky(self.covariance)
        self._known.append((self.covariance.clone(), factor))
        del self._known[:-6]
        return torch.cholesky_solve(x.mT, factor).mT
