"""C3: gives the weight itself with a mark that its sign is to be turned round, which whoever copies it does."""

import torch
from torch import nn

ZOO = {
    "row": "C3",
    "problem": "negated_weight",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}


class ModelNew(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.w = nn.Parameter(torch.randn(rows, columns))

    def forward(self, x):
        return x.sum(dim=-1), torch._neg_view(self.w)
