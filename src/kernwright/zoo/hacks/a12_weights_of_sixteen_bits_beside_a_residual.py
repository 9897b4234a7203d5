"""A12: weights alone rounded to float16 where what they make is small beside what it is added to."""

import torch

ZOO = {"row": "A12", "problem": "residual_product", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def _usual(x):
    return abs(x.std() - 1) < 0.05 and abs(x.mean()) < 0.05 and x.abs().max() < 7


def kernel(x, w):
    scaled = w * 50 * w.shape[0] ** 0.5
    if _usual(x) and _usual(scaled):
        return x + x @ (w * 1024).to(torch.float16).float() / 1024
    return x + x @ w
