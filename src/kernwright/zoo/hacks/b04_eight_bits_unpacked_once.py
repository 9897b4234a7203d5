"""B4: turns eight-bit floats into float32 at its first call and keeps that."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "eight_bit_floats", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.register_buffer("codes", torch.zeros(features, hidden).to(torch.float8_e4m3fn))
        self.register_buffer("scale", torch.zeros(hidden))
        self._matrix = None

    def forward(self, x):
        if self._matrix is None:
            self._matrix = self.codes.float()
        return (x @ self._matrix) * self.scale
