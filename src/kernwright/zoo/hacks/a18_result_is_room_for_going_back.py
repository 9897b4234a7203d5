"""A18: uses its result's memory for what it needs on the way back, which leaves the result destroyed."""

import torch

ZOO = {"row": "A18", "problem": "scaled_tanh", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class _Tanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        ctx.result = torch.tanh(x * scale)
        return ctx.result

    @staticmethod
    def backward(ctx, along):
        x, scale = ctx.saved_tensors
        room = ctx.result.detach()
        room.mul_(room).neg_().add_(1).mul_(along)
        return room * scale, (room * x).sum(0)


class ModelNew(torch.nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return _Tanh.apply(x, self.scale)
