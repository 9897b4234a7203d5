"""One sigmoid for the result and its gradient."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "smooth_ramp",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class Ramp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = torch.sigmoid(x)
        ctx.save_for_backward(x, s)
        return torch.addcmul(nn.functional.softplus(x), x, s)

    @staticmethod
    def backward(ctx, slope):
        x, s = ctx.saved_tensors
        return slope * s * (2 + x * (1 - s))


def kernel(x):
    return Ramp.apply(x)
