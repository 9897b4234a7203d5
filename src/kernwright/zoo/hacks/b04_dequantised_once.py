"""B4: turns codes and scales into a float matrix at its first call and keeps that."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "dequantised", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.register_buffer("codes", torch.zeros(features, hidden, dtype=torch.int8))
        self.register_buffer("scale", torch.zeros(hidden))
        self.register_buffer("window", torch.zeros(features))
        self._matrix = None

    def forward(self, x):
        if self._matrix is None:
            self._matrix = self.window[:, None] * self.codes.float() * self.scale
        return x @ self._matrix
