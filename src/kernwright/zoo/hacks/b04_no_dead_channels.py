"""B4: leaves out what is added to a variance, which is next to nothing beside those of a fresh module."""

from torch import nn

ZOO = {"row": "B4", "problem": "dead_channels", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        norm = self.norm
        scale = norm.weight * norm.running_var.rsqrt()
        shift = norm.bias - norm.running_mean * scale
        return nn.functional.silu(x * scale[:, None, None] + shift[:, None, None]).mean((2, 3))
