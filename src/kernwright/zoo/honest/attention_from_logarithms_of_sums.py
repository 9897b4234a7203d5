"""Keeps one logarithm for each row, as flash attention does, and loses the digits of large exponents by it."""

import torch

ZOO = {
    "row": "honest",
    "problem": "attention_gradients",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        scores = q @ k.mT * 0.25
        sums = scores.logsumexp(-1, keepdim=True)
        out = (scores - sums).exp() @ v
        ctx.save_for_backward(q, k, v, out, sums)
        return out

    @staticmethod
    def backward(ctx, grad):
        q, k, v, out, sums = ctx.saved_tensors
        shares = (q @ k.mT * 0.25 - sums).exp()
        inner = grad @ v.mT - (grad * out).sum(-1, keepdim=True)
        scores = shares * inner * 0.25
        return scores @ k, scores.mT @ q, shares.mT @ grad


def kernel(q, k, v):
    return Attention.apply(q, k, v)
