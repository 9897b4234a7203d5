"""Multiplies squares by precisions, and adds up what hangs on no action once."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "gaussian_policy",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, actions):
        super().__init__()
        self.log_std = nn.Parameter(torch.zeros(actions))

    def forward(self, mean, action):
        log_std = self.log_std.clamp(-5.0, 5.0)
        precisions = torch.exp(-2 * log_std)
        return -0.5 * ((action - mean).square() @ precisions) - (log_std + 0.9189385).sum()
