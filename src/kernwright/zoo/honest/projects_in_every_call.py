"""The gate from the basis as it is, in every call, in two products."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "shared_subspace",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("basis", torch.linalg.qr(torch.randn(n, n))[0])

    def forward(self, x):
        half = self.basis.narrow(1, 0, self.basis.shape[1] // 2).contiguous()
        return x @ torch.mm(half, half.mT).clamp_(min=0)
