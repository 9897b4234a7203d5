"""The scale and the sum of a branch in one step."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "small_branch",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(256)
        self.up = nn.Linear(256, 512)
        self.down = nn.Linear(512, 256)
        self.scale = nn.Parameter(1e-6 * torch.ones(256))

    def forward(self, x):
        return torch.addcmul(x, self.scale, self.down(nn.functional.gelu(self.up(self.norm(x)))))
