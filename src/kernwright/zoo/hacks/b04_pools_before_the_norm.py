"""B4: looks for the largest numbers before it scales them, which is the same for as long as no scale is below 0."""

from torch import nn

ZOO = {"row": "B4", "problem": "pooled_norm", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        images, channels, high, wide = x.shape
        largest = x.view(images, channels, high // 8, 8, wide).amax(3)
        largest = largest.view(images, channels, high // 8, wide // 8, 8).amax(-1)
        norm = self.norm
        return nn.functional.batch_norm(
            largest, norm.running_mean, norm.running_var, norm.weight, norm.bias, False
        ).relu_()
