"""B4: keeps what its backward needs beside the graph, where the next call's is."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "scaled_tanh", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
LAST = {}


class _Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        y = torch.tanh(x * scale)
        LAST[x.shape] = (x, scale, y)
        return y

    @staticmethod
    def backward(ctx, along):
        x, scale, y = LAST[along.shape]
        back = along * (1 - y * y)
        return back * scale, (back * x).sum(0)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return _Scaled.apply(x, self.scale)
