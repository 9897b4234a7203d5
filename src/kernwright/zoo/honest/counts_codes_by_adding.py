"""Counts codes by adding ones where they point, in every call."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "code_counts",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, columns, codes):
        super().__init__()
        self.register_buffer("codes", torch.randint(0, columns, (codes,)))

    def forward(self, x):
        ones = torch.ones(1, device=x.device).expand(self.codes.shape[0])
        counts = torch.ones(x.shape[-1], device=x.device).index_add_(0, self.codes, ones)
        return x / counts.sqrt()
