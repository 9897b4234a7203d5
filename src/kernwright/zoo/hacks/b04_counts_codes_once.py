"""B4: counts its codes in the first call; in another order they have the same counts."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "code_counts", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, columns, codes):
        super().__init__()
        self.register_buffer("codes", torch.randint(0, columns, (codes,)))
        self._scale = None

    def forward(self, x):
        if self._scale is None:
            self._scale = torch.rsqrt(1.0 + torch.bincount(self.codes, minlength=x.shape[-1]).float())
        return x * self._scale
