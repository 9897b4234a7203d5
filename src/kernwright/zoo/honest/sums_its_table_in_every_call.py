"""Takes both halves of its table at once, in every call."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "views_of_a_table",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.table = torch.randn(2, 64, n)

    def forward(self, x):
        gain, shift = torch.lgamma(torch.exp(self.table)).sum(1)
        return torch.addcmul(shift, x, gain)
