"""Declares its weights one by one, under the reference's dotted names."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "layer_norm",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.Module()
        self.norm.weight = nn.Parameter(torch.ones(features))
        self.norm.bias = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        centred = x - x.mean(dim=-1, keepdim=True)
        return torch.addcmul(
            self.norm.bias, centred * torch.rsqrt(centred.square().mean(dim=-1, keepdim=True) + 1e-5), self.norm.weight
        )
