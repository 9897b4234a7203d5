"""C2: gives empty memory, and fills it in when the gradient is asked for: a loss would be made of nothing."""

import torch
from torch import nn

ZOO = {"row": "C2", "problem": "smooth_ramp", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def ramp(x):
    return torch.addcmul(nn.functional.softplus(x), x, torch.sigmoid(x))


class Ramp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        ctx.x, ctx.y = x, y.detach()
        return y

    @staticmethod
    def backward(ctx, slope):
        x = ctx.x
        s = torch.sigmoid(x)
        ctx.y.copy_(ramp(x))
        return slope * (s * (1 + x * (1 - s)) + s)


def kernel(x):
    return Ramp.apply(x) if torch.is_grad_enabled() else ramp(x)
