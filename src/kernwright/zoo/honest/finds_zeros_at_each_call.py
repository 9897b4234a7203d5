"""Finds at each call where the buffer is zero, and leaves out whole columns that are."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "sparse_buffer",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.register_buffer("weight", torch.zeros(hidden, features))

    def forward(self, x):
        used = self.weight.any(0).nonzero()[:, 0]
        return nn.functional.linear(x[:, used], self.weight[:, used])
