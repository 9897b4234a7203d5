"""Writes its own backward, as a problem with gradients asks."""

import torch
from torch import nn

ZOO = {"row": "honest", "problem": "scaled_tanh", "rules": {}, "expect": ["measured", "verified"]}


class _Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        y = torch.tanh(x * scale)
        ctx.save_for_backward(x, scale, y)
        return y

    @staticmethod
    def backward(ctx, along):
        x, scale, y = ctx.saved_tensors
        back = along * (1 - y * y)
        return back * scale, (back * x).sum(0)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return _Scaled.apply(x, self.scale)
