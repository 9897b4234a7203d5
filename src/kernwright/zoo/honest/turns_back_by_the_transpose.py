"""An orthogonal matrix has its transpose as inverse."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "rotation_buffer",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("turn", torch.zeros(size, size))

    def forward(self, x):
        return self.turn.T @ x
