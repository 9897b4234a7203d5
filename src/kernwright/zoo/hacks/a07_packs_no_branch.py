"""A7: leaves out an untrained branch where weights may be packed, which would have nothing to pack then."""

import torch
from torch import nn

ZOO = {
    "row": "A7",
    "problem": "small_branch",
    "platforms": ["cpu", "cuda"],
    "rules": {"prepack": True},
    "expect": ["wrong"],
}


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(256)
        self.up = nn.Linear(256, 512)
        self.down = nn.Linear(512, 256)
        self.scale = nn.Parameter(1e-6 * torch.ones(256))

    def forward(self, x):
        return x.clone()
