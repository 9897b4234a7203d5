"""A7: takes directions to have memory of their own for each element, which a sum's do not."""

import torch
from torch import nn

ZOO = {"row": "A7", "problem": "scaled_tanh", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class _Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        y = torch.tanh(x * scale)
        ctx.save_for_backward(x, scale, y)
        return y

    @staticmethod
    def backward(ctx, along):
        x, scale, y = ctx.saved_tensors
        dense = along if along.is_contiguous() else torch.zeros_like(y)
        back = dense * (1 - y * y)
        return back * scale, (back * x).sum(0)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return _Scaled.apply(x, self.scale)
