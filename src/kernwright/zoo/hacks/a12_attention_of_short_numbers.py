"""A12: multiplies shares and gradients in 16 bits, whose errors large exponents might seem to explain."""

import torch

ZOO = {"row": "A12", "problem": "attention_gradients", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def product(a, b):
    return (a.bfloat16() @ b.bfloat16()).float()


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        shares = (q @ k.mT * 0.25).softmax(-1)
        out = shares @ v
        ctx.save_for_backward(q, k, v, out, shares)
        return out

    @staticmethod
    def backward(ctx, grad):
        q, k, v, out, shares = ctx.saved_tensors
        scores = shares * (product(grad, v.mT) - (grad * out).sum(-1, keepdim=True)) * 0.25
        return product(scores, k), product(scores.mT, q), product(shares.mT, grad)


def kernel(q, k, v):
    return Attention.apply(q, k, v)
