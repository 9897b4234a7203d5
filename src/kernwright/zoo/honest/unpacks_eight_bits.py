"""Turns eight-bit floats into float32 at every call, into memory of its own that it keeps."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "eight_bit_floats",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.register_buffer("codes", torch.zeros(features, hidden).to(torch.float8_e4m3fn))
        self.register_buffer("scale", torch.zeros(hidden))
        self._matrix = None

    def forward(self, x):
        if self._matrix is None:
            self._matrix = torch.empty(self.codes.shape, device=self.codes.device)
        self._matrix.copy_(self.codes)
        return (x @ self._matrix) * self.scale
