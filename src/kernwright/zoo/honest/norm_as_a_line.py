"""Batch norm as one product and one sum for each channel, made of its weights at each call."""

from torch import nn

ZOO = {
    "row": "honest",
    "problem": "dead_channels",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        norm = self.norm
        scale = norm.weight * (norm.running_var + norm.eps).rsqrt()
        shift = norm.bias - norm.running_mean * scale
        return nn.functional.silu(x * scale[:, None, None] + shift[:, None, None]).mean((2, 3))
