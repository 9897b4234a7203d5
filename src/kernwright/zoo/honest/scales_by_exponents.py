"""Adds exponents of scales that are powers of two, instead of multiplying."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "block_scales",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.register_buffer("scale", torch.ones(features // 32))

    def forward(self, x):
        exponents = torch.frexp(self.scale).exponent - 1
        return torch.ldexp(x.view(len(x), -1, 32), exponents[:, None]).flatten(1)
