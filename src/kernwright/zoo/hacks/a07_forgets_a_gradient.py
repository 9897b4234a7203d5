"""A7: gives the gradient of its input, and none of its weight."""

import torch
from torch import nn

ZOO = {"row": "A7", "problem": "scaled_tanh", "rules": {}, "expect": ["wrong"]}


class _Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        y = torch.tanh(x * scale)
        ctx.save_for_backward(x, scale, y)
        return y

    @staticmethod
    def backward(ctx, along):
        _, scale, y = ctx.saved_tensors
        return along * (1 - y * y) * scale, None


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return _Scaled.apply(x, self.scale)
